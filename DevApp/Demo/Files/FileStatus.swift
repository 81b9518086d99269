import CommandLineOperations

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The status of a file, as the system reports it.
struct FileStatus: Sendable {
  enum Kind: Sendable { case file, folder, link, other }

  /// The identity of a file, independent of its names.
  struct Identity: Hashable, Sendable {
    let device: UInt64
    let number: UInt64
  }

  /// A time of a file, since the beginning of 1970, UTC.
  struct Time: Hashable, Sendable {
    let seconds: Int64
    let nanoseconds: Int64
  }

  let kind: Kind
  let identity: Identity
  /// The size in bytes.
  let size: Int
  /// When the contents last changed.
  let modified: Time
  /// When the contents or the status last changed.
  let changed: Time

  /// The status of the file at a path, following symbolic links.
  init(following path: RawPath) throws(SystemError) {
    var status = stat()
    try unsafe path.call { unsafe fstatat($0, $1, &status, 0) }
    self.init(status)
  }

  /// The status of an open file.
  init(ofOpen descriptor: Int32) throws(SystemError) {
    var status = stat()
    try SystemError.check { unsafe fstat(descriptor, &status) }
    self.init(status)
  }

  /// The status of a file in an open folder; of a symbolic link itself.
  init(of name: RawPath, inOpen folder: Int32) throws(SystemError) {
    var status = stat()
    try unsafe name.call(in: folder) { unsafe fstatat($0, $1, &status, AT_SYMLINK_NOFOLLOW) }
    self.init(status)
  }

  private init(_ status: stat) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      case S_IFLNK: .link
      default: .other
      }
    identity = Identity(
      device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino))
    size = Int(status.st_size)
    #if canImport(Darwin)
      modified = Time(status.st_mtimespec)
      changed = Time(status.st_ctimespec)
    #else
      modified = Time(status.st_mtim)
      changed = Time(status.st_ctim)
    #endif
  }
}

extension FileStatus.Time {
  fileprivate init(_ time: timespec) {
    self.init(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
  }
}

extension FileStatus.Identity: Codable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(device)
    try container.encode(number)
  }

  init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    self.init(
      device: try container.decode(UInt64.self), number: try container.decode(UInt64.self))
  }
}
