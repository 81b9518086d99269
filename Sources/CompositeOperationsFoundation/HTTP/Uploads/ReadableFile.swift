internal import CompositeOperations
internal import Foundation

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Looks at a file before somebody else reads it, who says less of what is wrong with it.
enum ReadableFile {
  /// - Returns: How long it is, in bytes.
  static func size(of url: URL) throws(FileError) -> Int {
    guard url.isFileURL else {
      throw FileError(
        url.withoutSecrets, "cannot be read", because: "It is no file. Download it first.")
    }
    let path = url.path
    // A pipe without a writer must not hold this up.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor < 0 {
      let error = SystemError.last
      let explanation =
        error.code == ENOENT
        ? "\(error). Check its name." : "\(error). Name a file that may be read."
      throw FileError(path, "cannot be read", error, because: explanation)
    }
    defer { _ = close(descriptor) }
    var status = stat()
    if unsafe fstat(descriptor, &status) != 0 { throw FileError(path, "cannot be read", .last) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw FileError(
        path, "cannot be sent",
        because: "It is a folder or a device, whose length nobody knows. Name a file.")
    }
    return Int(status.st_size)
  }
}
