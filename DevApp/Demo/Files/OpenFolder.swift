import CommandLineOperations

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A folder that is open as long as this object exists.
final class OpenFolder {
  private let descriptor: Int32

  /// Opens a folder, following symbolic links.
  init(_ path: RawPath) throws(SystemError) {
    descriptor = try unsafe path.call { unsafe openat($0, $1, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
  }

  deinit { close(descriptor) }

  func status() throws(SystemError) -> FileStatus { try FileStatus(ofOpen: descriptor) }

  /// The status of a file in the folder; of a symbolic link itself.
  func status(of name: [UInt8]) throws(SystemError) -> FileStatus {
    try FileStatus(of: RawPath(bytes: name), inOpen: descriptor)
  }

  /// Calls a closure for every name in the folder, in the order of the system.
  ///
  /// - Parameter body: Receives the name and the kind of its file; nil if the folder does not store
  ///   the kind.
  func forEachName(_ body: ([UInt8], FileStatus.Kind?) -> Void) throws(SystemError) {
    let copy = try SystemError.check { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
    guard let stream = unsafe fdopendir(copy) else {
      let error = SystemError.last
      close(copy)
      throw error
    }
    // It closes the copy too.
    defer { unsafe closedir(stream) }
    errno = 0
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe Array(bytes.prefix { $0 != 0 })
      }
      if !name.elementsEqual(".".utf8), !name.elementsEqual("..".utf8) {
        body(name, FileStatus.Kind(ofEntry: Int32(unsafe entry.pointee.d_type)))
      }
      errno = 0
    }
    if errno != 0 { throw .last }
  }
}

extension FileStatus.Kind {
  /// The kind in an entry of a folder; nil if it is unknown.
  fileprivate init?(ofEntry type: Int32) {
    switch type {
    case Int32(DT_UNKNOWN): return nil
    case Int32(DT_REG): self = .file
    case Int32(DT_DIR): self = .folder
    case Int32(DT_LNK): self = .link
    default: self = .other
    }
  }
}
