import Foundation

/// The checkout of the package that contains these tests.
enum Checkout {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  static func path(of file: String) -> String { root.appendingPathComponent(file).path }

  /// Returns the contents of a file; nil if it does not exist.
  static func text(of file: String) throws -> String? {
    let path = path(of: file)
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    return try String(contentsOfFile: path, encoding: .utf8)
  }

  /// Returns the sorted paths of the files in a folder and below it whose names have a suffix.
  static func files(below folder: String, suffix: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: path(of: folder))
      .filter { $0.hasSuffix(suffix) }.sorted().map { "\(folder)/\($0)" }
  }
}
