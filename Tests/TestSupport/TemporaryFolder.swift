public import Foundation

/// A temporary folder that is removed with this object.
public final class TemporaryFolder: Sendable {
  public let url: URL

  public init(in parent: URL = FileManager.default.temporaryDirectory) throws {
    url = parent.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  public var path: String { url.path }

  public subscript(name: String) -> URL { url.appendingPathComponent(name) }

  /// Creates a symbolic link.
  public func link(_ name: String, to path: String) throws -> URL {
    try FileManager.default.createSymbolicLink(atPath: self[name].path, withDestinationPath: path)
    return self[name]
  }

  /// Writes a file, and the folders above it.
  @discardableResult
  public func write(_ contents: String, to name: String) throws -> URL {
    try write(Data(contents.utf8), to: name)
  }

  /// Writes a file, and the folders above it.
  @discardableResult
  public func write(_ contents: Data, to name: String) throws -> URL {
    let file = self[name]
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try contents.write(to: file)
    return file
  }

  /// The names of the contents, sorted.
  public func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
  }

  /// The size of a file in bytes; nil if there is no such file.
  public func size(of name: String) -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: self[name].path))?[.size] as? Int
  }
}

/// Pseudorandom bytes, the same for the same seed.
public func someBytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
  var state = seed
  return (0..<count).map { _ in
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return UInt8(truncatingIfNeeded: state >> 56)
  }
}
