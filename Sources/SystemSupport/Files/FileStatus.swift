#if canImport(Glibc)
  package import Glibc
#elseif canImport(Musl)
  package import Musl
#elseif canImport(Darwin)
  package import Darwin
#endif

/// The permission bits of a file.
package typealias FilePermissions = mode_t

/// The status of a file, as the system reports it.
package struct FileStatus: Sendable {
  package enum Kind: Sendable { case file, folder, link, other }

  /// The identity of a file, independent of its names.
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
  /// The number of hard links.
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

  /// Returns whether the file is the same, with the same contents as far as the system reports.
  package func isUnchanged(since earlier: FileStatus) -> Bool {
    identity == earlier.identity && kind == earlier.kind && size == earlier.size
      && modified.tv_sec == earlier.modified.tv_sec
      && modified.tv_nsec == earlier.modified.tv_nsec
  }
}
