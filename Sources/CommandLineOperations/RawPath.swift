import SystemSupport

/// A path, or another argument of a program, in the bytes of the system, which need not be UTF-8.
///
/// ```swift
/// import CommandLineOperations
/// let folder = RawPath("/var/log")
/// print(folder.appending("system\n.log".utf8))  // $'/var/log/system\n.log'
/// ```
///
/// Paths are equal if their bytes are equal, and are ordered by their bytes. No system has a file whose
/// path contains a zero byte: system calls ignore everything after it.
public struct RawPath: Hashable, Sendable {
  /// The bytes of the path with a terminating zero byte, as system calls require.
  private let terminated: ContiguousArray<UInt8>

  /// Creates a path from text, as UTF-8.
  public init(_ text: String) { terminated = ContiguousArray(text.utf8) + [0] }

  /// Creates a path from its bytes, without a terminating zero byte.
  public init(bytes: some Collection<UInt8>) { terminated = ContiguousArray(bytes) + [0] }

  private init(terminated: ContiguousArray<UInt8>) { self.terminated = terminated }

  /// The bytes of the path, without a terminating zero byte.
  public var bytes: ArraySlice<UInt8> { ArraySlice(terminated.dropLast()) }

  /// The path as text; nil if its bytes are not UTF-8.
  public var text: String? { String(validating: bytes, as: UTF8.self) }

  /// Returns the path of an item in the folder at this path.
  ///
  /// - Parameter name: The bytes of the name, or of a path relative to the folder.
  public func appending(_ name: some Collection<UInt8>) -> RawPath {
    var bytes = ContiguousArray<UInt8>()
    bytes.reserveCapacity(terminated.count + name.count + 1)
    bytes.append(contentsOf: terminated.dropLast())
    // An empty path has no folder, and a separator would begin an absolute path.
    if let last = bytes.last, last != UInt8(ascii: "/") { bytes.append(UInt8(ascii: "/")) }
    bytes.append(contentsOf: name)
    bytes.append(0)
    return RawPath(terminated: bytes)
  }

  /// Calls a closure with the path as a C string, for a system call.
  ///
  /// - Parameter body: A closure that receives the address of the bytes and a terminating zero byte.
  ///   The address is valid only during the call.
  /// - Returns: The return value of the closure.
  /// - Throws: The error of the closure.
  public func withCString<Value, Failure: Error>(
    _ body: (UnsafePointer<CChar>) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try unsafe terminated.withUnsafeBufferPointer { buffer throws(Failure) in
      // The array is never empty, so it has an address.
      guard let start = unsafe UnsafeRawPointer(buffer.baseAddress) else {
        preconditionFailure("a path without its terminating zero byte")
      }
      return try unsafe body(start.assumingMemoryBound(to: CChar.self))
    }
  }
}

extension RawPath: Comparable {
  public static func < (left: RawPath, right: RawPath) -> Bool {
    left.terminated.lexicographicallyPrecedes(right.terminated)
  }
}

extension RawPath: CustomStringConvertible {
  /// The path on one line, for messages.
  ///
  /// It is quoted in the syntax of the shell, `$'a\nb'`, if it contains bytes that are not UTF-8, or
  /// characters that break the line, reorder it or control the terminal.
  public var description: String { ShellText.escaped(bytes, utf8: text) }
}
