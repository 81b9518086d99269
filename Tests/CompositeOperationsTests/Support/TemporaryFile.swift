import Foundation

/// The path of a temporary file, which is removed when this object is deallocated.
final class TemporaryFile: Sendable {
  let path: String

  init(_ ending: String) {
    path =
      FileManager.default.temporaryDirectory
      .appendingPathComponent(UUID().uuidString + ending).path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var text: String {
    get throws { try String(contentsOfFile: path, encoding: .utf8) }
  }

  /// The size of the file in bytes.
  var size: Int {
    get throws {
      try URL(fileURLWithPath: path).resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
    }
  }

  func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }
}
