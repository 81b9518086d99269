package import SystemSupport

/// A path in the bytes of the system, which need not be UTF-8.
public struct RawPath: Hashable, Comparable, Sendable {
  /// The bytes of the path with a terminating zero byte, as system calls require.
  private let terminated: ContiguousArray<UInt8>

  public var bytes: ArraySlice<UInt8> { ArraySlice(terminated.dropLast()) }

  public init(_ text: String) { terminated = ContiguousArray(text.utf8) + [0] }

  public init(bytes: some Collection<UInt8>) { terminated = ContiguousArray(bytes) + [0] }

  /// Returns the path of an item in this folder.
  public func appending(_ name: some Collection<UInt8>) -> RawPath {
    var bytes = ContiguousArray<UInt8>()
    bytes.reserveCapacity(terminated.count + name.count + 1)
    bytes.append(contentsOf: terminated.dropLast())
    if bytes.last != UInt8(ascii: "/") { bytes.append(UInt8(ascii: "/")) }
    bytes.append(contentsOf: name)
    bytes.append(0)
    return RawPath(terminated: bytes)
  }

  private init(terminated: ContiguousArray<UInt8>) { self.terminated = terminated }

  package var fileName: FileName { FileName(bytes) }

  public static func < (left: RawPath, right: RawPath) -> Bool {
    left.terminated.lexicographicallyPrecedes(right.terminated)
  }
}

extension RawPath: CustomStringConvertible {
  /// The path as UTF-8, or nil if its bytes are not.
  public var utf8: String? { String(validating: bytes, as: UTF8.self) }

  /// The path on one line. It is quoted in the syntax of the shell, `$'a\nb'`, if it contains bytes
  /// that are not UTF-8, or characters that break the line, reorder it or control the terminal.
  public var description: String { ShellText.escaped(bytes, utf8: utf8) }
}
