internal import CompositeOperations

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// An open file. Whoever made it closes it, once.
struct OpenFile: Sendable {
  /// What a block of a file has at most: small enough to stop in time, and large enough to be quick.
  static let blockSize = 1 << 20

  let descriptor: Int32

  /// - Throws: What the system says against it.
  init(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(SystemError) {
    var descriptor: Int32
    repeat {
      descriptor = unsafe open(path, flags | O_CLOEXEC, mode)
    } while descriptor < 0 && errno == EINTR
    if descriptor < 0 { throw .last }
    self.descriptor = descriptor
  }

  /// - Returns: How many bytes were read; 0 at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    while true {
      let count = unsafe systemRead(descriptor, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      if errno != EINTR { throw .last }
    }
  }

  /// Writes all of it, in as many calls as the system wants.
  func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
      let count = unsafe systemWrite(descriptor, rest.baseAddress, rest.count)
      if count > 0 {
        written += count
      } else if count == 0 {
        throw SystemError(code: EIO)
      } else if errno != EINTR {
        throw .last
      }
    }
  }

  /// Waits until what was written is on the disk.
  func synchronize() throws(SystemError) {
    if fsync(descriptor) != 0, errno != EINVAL, errno != EROFS { throw .last }
  }

  var status: FileStatus {
    get throws(SystemError) {
      var status = stat()
      if unsafe fstat(descriptor, &status) != 0 { throw .last }
      return FileStatus(status)
    }
  }

  /// Gives the file another's rights and time of change.
  func take(_ status: FileStatus) throws(SystemError) {
    if fchmod(descriptor, status.permissions) != 0 { throw .last }
    var times = [status.accessed, status.modified]
    if unsafe futimens(descriptor, &times) != 0 { throw .last }
  }

  func close() throws(SystemError) {
    // It is closed even where the call was interrupted.
    if systemClose(descriptor) != 0, errno != EINTR { throw .last }
  }
}

/// What the system knows of a file.
struct FileStatus: Sendable {
  enum Kind: Sendable { case file, folder, link, other }

  let kind: Kind
  let size: Int
  let permissions: mode_t
  let accessed: timespec
  let modified: timespec

  /// Of what a path names, and of a symbolic link itself.
  init(of path: String) throws(SystemError) {
    var status = stat()
    if unsafe lstat(path, &status) != 0 { throw .last }
    self.init(status)
  }

  init(_ status: stat) {
    switch status.st_mode & S_IFMT {
    case S_IFREG: kind = .file
    case S_IFDIR: kind = .folder
    case S_IFLNK: kind = .link
    default: kind = .other
    }
    size = Int(status.st_size)
    permissions = status.st_mode & 0o7777
    #if canImport(Darwin)
      (accessed, modified) = (status.st_atimespec, status.st_mtimespec)
    #else
      (accessed, modified) = (status.st_atim, status.st_mtim)
    #endif
  }

  /// - Returns: Nil if there is nothing.
  static func ifThere(_ path: String) throws(SystemError) -> FileStatus? {
    do { return try FileStatus(of: path) } catch {
      if error.isMissing { return nil }
      throw error
    }
  }
}

extension SystemError {
  var isMissing: Bool { code == ENOENT || code == ENOTDIR }
  var isDenied: Bool { code == EACCES || code == EPERM }
  var isOnAnotherDisk: Bool { code == EXDEV }

  static var exists: SystemError { SystemError(code: EEXIST) }
  static var missing: SystemError { SystemError(code: ENOENT) }
}

/// What the system does with names.
enum FileSystem {
  static func rename(_ path: String, to other: String) throws(SystemError) {
    if systemRename(path, other) != 0 { throw .last }
  }

  static func removeFile(_ path: String) throws(SystemError) {
    if unsafe unlink(path) != 0 { throw .last }
  }

  static func removeFolder(_ path: String) throws(SystemError) {
    if unsafe rmdir(path) != 0 { throw .last }
  }

  static func makeFolder(_ path: String) throws(SystemError) {
    if unsafe mkdir(path, 0o777) != 0 { throw .last }
  }

  static func setPermissions(_ permissions: mode_t, of path: String) throws(SystemError) {
    if unsafe chmod(path, permissions) != 0 { throw .last }
  }

  static func target(ofLink path: String) throws(SystemError) -> [CChar] {
    var target = [CChar](repeating: 0, count: 4_097)
    let count = unsafe readlink(path, &target, target.count - 1)
    if count < 0 { throw .last }
    return Array(target.prefix(count)) + [0]
  }

  static func makeLink(_ path: String, to target: [CChar]) throws(SystemError) {
    if unsafe symlink(target, path) != 0 { throw .last }
  }

  /// The names in a folder, in their order.
  static func names(in folder: String) throws(SystemError) -> [String] {
    guard let stream = unsafe opendir(folder) else { throw .last }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    errno = 0
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != "." && name != ".." { names.append(name) }
      errno = 0
    }
    if errno != 0 { throw .last }
    return names.sorted()
  }
}

// The functions of the system, whose names methods have too.
private func systemRead(_ file: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  unsafe read(file, bytes, count)
}
private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(file, bytes, count)
}
private func systemClose(_ file: Int32) -> Int32 { close(file) }
private func systemRename(_ path: String, _ other: String) -> Int32 { unsafe rename(path, other) }
