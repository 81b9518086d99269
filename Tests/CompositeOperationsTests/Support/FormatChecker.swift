import Foundation

/// Reads exports with the official parsers of their formats, from the Python packages
/// opentelemetry-proto and prometheus_client.
enum FormatChecker {
  enum Format: String { case otlp, prometheus }

  private static let script = Checkout.path(
    of: "Tests/CompositeOperationsTests/Support/check-formats.py")

  /// The interpreter in `COMPOSITE_PYTHON`, or the first `python3` in `PATH`.
  private static let python: URL? = {
    let environment = ProcessInfo.processInfo.environment
    if let path = environment["COMPOSITE_PYTHON"] { return URL(fileURLWithPath: path) }
    return (environment["PATH"] ?? "").split(separator: ":")
      .map { URL(fileURLWithPath: "\($0)/python3") }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }()

  /// Whether the interpreter has the parsers.
  static func isAvailable() async throws -> Bool {
    guard let python else { return false }
    return try await Program(file: python, arguments: [script, "modules"]).run().status == 0
  }

  /// Parses a text and returns the lines that the parser prints.
  ///
  /// - Throws: A `TestError` with the message of the parser if the text is invalid.
  static func findings(in text: String, _ format: Format) async throws -> [String] {
    guard let python else { throw TestError("python3 was not found in PATH; set COMPOSITE_PYTHON") }
    let file = TemporaryFile(".txt")
    try file.write(text)
    let end = try await Program(
      file: python, arguments: [script, format.rawValue, file.path]
    ).run()
    if end.status != 0 { throw TestError(end.output) }
    return end.output.split(separator: "\n").map(String.init)
  }
}
