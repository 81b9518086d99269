#if canImport(Glibc)
  package import Glibc
#elseif canImport(Musl)
  package import Musl
#elseif canImport(Darwin)
  package import Darwin
#endif

/// Who may do what with a file, in the bits of the system.
package typealias FilePermissions = mode_t

/// What the system knows of a file.
package struct FileStatus: Sendable {
  package enum Kind: Sendable { case file, folder, link, other }

  /// Which file it is, whatever it is called.
  package struct Identity: Hashable, Sendable {
    let device: dev_t
    let number: ino_t
  }

  package let kind: Kind
  package let identity: Identity
  package let size: Int
  package let permissions: FilePermissions
  package let owner: uid_t
  package let group: gid_t
  /// How many names it has.
  package let nameCount: Int
  package let accessed: timespec
  package let modified: timespec

  package init(_ status: stat) {
    switch status.st_mode & S_IFMT {
    case S_IFREG: kind = .file
    case S_IFDIR: kind = .folder
    case S_IFLNK: kind = .link
    default: kind = .other
    }
    identity = Identity(device: status.st_dev, number: status.st_ino)
    size = Int(status.st_size)
    permissions = status.st_mode & 0o7777
    (owner, group) = (status.st_uid, status.st_gid)
    nameCount = Int(status.st_nlink)
    #if canImport(Darwin)
      (accessed, modified) = (status.st_atimespec, status.st_mtimespec)
    #else
      (accessed, modified) = (status.st_atim, status.st_mtim)
    #endif
  }

  /// Whether it is the same file with, by what the system says, the same contents.
  package func isUnchanged(since earlier: FileStatus) -> Bool {
    identity == earlier.identity && kind == earlier.kind && size == earlier.size
      && modified.tv_sec == earlier.modified.tv_sec
      && modified.tv_nsec == earlier.modified.tv_nsec
  }
}
