import Foundation
import TestSupport

/// Runs Python, whose modules `csv` and `json` are a reference for these formats.
enum Python {
  /// The interpreter that `COMPOSITE_PYTHON` names, otherwise the first `python3` in `PATH`.
  private static let file: URL? = {
    let environment = ProcessInfo.processInfo.environment
    if let path = environment["COMPOSITE_PYTHON"] { return URL(fileURLWithPath: path) }
    return (environment["PATH"] ?? "").split(separator: ":")
      .map { URL(fileURLWithPath: "\($0)/python3") }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }()

  static var isAvailable: Bool { file != nil }

  struct Failure: Error {
    let status: Int32
    let output: String
  }

  /// Returns the bytes that a script writes to the file `target`. It reads the input from the file
  /// `source`.
  static func bytes(
    of script: String, from input: [UInt8], arguments: [String] = []
  ) async throws -> [UInt8] {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let names = ["script.py", "source", "target", "log"].map {
      folder.appendingPathComponent($0)
    }
    let opening = "import csv, json, struct, sys\nsource, target = sys.argv[1:3]\n"
    for (name, content) in zip(names, [Data((opening + script).utf8), Data(input), Data(), Data()])
    {
      try content.write(to: name)
    }
    let log = try FileHandle(forWritingTo: names[3])
    let program = TestProgram(file?.path ?? "python3", names.prefix(3).map(\.path) + arguments)
    let status = try await program.start(output: log, error: log).end()
    guard status == 0 else {
      throw Failure(
        status: status,
        output: String(decoding: try Data(contentsOf: names[3]), as: UTF8.self))
    }
    return Array(try Data(contentsOf: names[2]))
  }
}
