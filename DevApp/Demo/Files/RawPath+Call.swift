import CommandLineOperations

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension RawPath {
  /// Calls a system function with the path, or with a folder and the rest of the path if the path is
  /// too long for the system.
  ///
  /// - Parameters:
  ///   - folder: The descriptor of the folder in which the path begins.
  ///   - function: Returns a negative number if it has failed. It is called again if a signal has
  ///     interrupted it.
  /// - Returns: The number that the function returns.
  @discardableResult func call(
    in folder: Int32 = AT_FDCWD,
    _ function: (_ folder: Int32, _ path: UnsafePointer<CChar>) -> Int32
  ) throws(SystemError) -> Int32 {
    let bytes = bytes
    // `PATH_MAX` includes the terminating zero byte.
    let longest = Int(PATH_MAX) - 1
    if bytes.count <= longest {
      return try SystemError.check { unsafe withCString { unsafe function(folder, $0) } }
    }
    let separator = UInt8(ascii: "/")
    guard let end = bytes.prefix(longest).lastIndex(of: separator) else {
      throw SystemError(code: ENAMETOOLONG)
    }
    let parent = try unsafe RawPath(bytes: bytes[...end]).call(in: folder) {
      unsafe openat($0, $1, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }
    defer { close(parent) }
    let rest = RawPath(bytes: bytes[end...].drop { $0 == separator })
    return try unsafe rest.call(in: parent, function)
  }
}
