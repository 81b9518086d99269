/// The permission bits of a file.
package struct FilePermissions: OptionSet, ExpressibleByIntegerLiteral, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }
  package init(integerLiteral value: UInt32) { rawValue = value }
}

/// A time of a file, since the beginning of 1970, UTC.
package struct FileTime: Hashable, Sendable {
  package let seconds: Int64
  package let nanoseconds: Int64

  package init(seconds: Int64, nanoseconds: Int64) {
    (self.seconds, self.nanoseconds) = (seconds, nanoseconds)
  }

  init(_ time: timespec) { (seconds, nanoseconds) = (Int64(time.tv_sec), Int64(time.tv_nsec)) }
}

/// The status of a file, as the system reports it.
package struct FileStatus: Sendable {
  package enum Kind: Sendable { case file, folder, link, other }

  /// The identity of a file, independent of its names.
  package struct Identity: Hashable, Sendable {
    package let device: UInt64
    package let number: UInt64

    package init(device: UInt64, number: UInt64) {
      (self.device, self.number) = (device, number)
    }
  }

  package let kind: Kind
  package let identity: Identity
  package let size: Int
  package let permissions: FilePermissions
  package let owner: UInt32
  package let group: UInt32
  package let hardLinkCount: Int
  package let accessed: FileTime
  /// When the contents last changed.
  package let modified: FileTime
  /// When the contents or the status last changed.
  package let changed: FileTime

  /// The status of the file at a path, following symbolic links.
  package init(ofFile path: String) throws(SystemError) {
    self = try OpenFolder.working.status(of: FileName(path), followingLink: true)
  }

  init(_ status: stat) {
    switch status.st_mode & S_IFMT {
    case S_IFREG: kind = .file
    case S_IFDIR: kind = .folder
    case S_IFLNK: kind = .link
    default: kind = .other
    }
    identity = Identity(
      device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino))
    size = Int(status.st_size)
    permissions = FilePermissions(rawValue: UInt32(status.st_mode & 0o7777))
    (owner, group) = (status.st_uid, status.st_gid)
    hardLinkCount = Int(status.st_nlink)
    #if canImport(Darwin)
      accessed = FileTime(status.st_atimespec)
      modified = FileTime(status.st_mtimespec)
      changed = FileTime(status.st_ctimespec)
    #else
      accessed = FileTime(status.st_atim)
      modified = FileTime(status.st_mtim)
      changed = FileTime(status.st_ctim)
    #endif
  }

  /// Returns whether the file is the same, with the same contents as far as the system reports.
  package func isUnchanged(since earlier: FileStatus) -> Bool {
    identity == earlier.identity && kind == earlier.kind && size == earlier.size
      && modified == earlier.modified
  }
}

extension timespec {
  init(_ time: FileTime) {
    self.init()
    tv_sec = time_t(time.seconds)
    tv_nsec = Int(time.nanoseconds)
  }
}
