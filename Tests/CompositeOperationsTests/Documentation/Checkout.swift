import Foundation

/// The sources of the package, as they lie about the tests.
enum Checkout {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  static func path(of file: String) -> String { root.appendingPathComponent(file).path }

  /// What a file says; nil if there is no such file.
  static func text(of file: String) throws -> String? {
    let path = path(of: file)
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    return try String(contentsOfFile: path, encoding: .utf8)
  }

  /// The files in a folder and below it whose names end so, in order.
  static func files(below folder: String, suffix: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: path(of: folder))
      .filter { $0.hasSuffix(suffix) }.sorted().map { "\(folder)/\($0)" }
  }
}
