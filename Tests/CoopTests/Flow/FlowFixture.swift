import Foundation
import TestSupport

/// A folder with a flow file in JSON, which every build can read.
struct FlowFixture {
  let folder: TemporaryFolder

  /// - Parameters:
  ///   - steps: The members of `steps`, without the braces.
  ///   - head: Other members of the file, each with a comma after it.
  init(_ steps: String, head: String = "") throws {
    folder = try TemporaryFolder()
    try write(steps, head: head)
  }

  /// Replaces the flow file.
  func write(_ steps: String, head: String = "") throws {
    try folder.write(#"{"flow": "f", \#(head) "steps": {\#(steps)}}"#, to: "f.json")
  }

  /// Runs `coop flow run f.json` with further arguments.
  func run(_ arguments: String...) async throws -> ProgramResult {
    try await program(["run", "f.json"] + arguments).run()
  }

  /// Runs `coop flow` with an action.
  func flow(_ arguments: String...) async throws -> ProgramResult {
    try await program(arguments).run()
  }

  func program(_ arguments: [String]) -> Program {
    var program = Program.coop(in: folder.url)
    program.arguments = ["flow"] + arguments
    program.environment = ["TZ": "UTC"]
    return program
  }

  /// The text of a file in the folder; nil if it does not exist.
  func text(_ name: String) -> String? {
    try? String(contentsOf: folder.url.appendingPathComponent(name), encoding: .utf8)
  }

  /// The lines of a file in the folder.
  func lines(_ name: String) -> [String] {
    (text(name) ?? "").split(separator: "\n").map(String.init)
  }

  func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.path + "/" + name)
  }

  func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: folder.path + "/" + name)
  }

  /// The path of the log of a step in a run.
  func log(_ step: String, inRun run: Int = 1) -> String { ".flow/f/runs/\(run)/\(step).log" }

  /// The lines of the output of a step in the last run that has its log.
  func outputLines(_ step: String) -> [String] {
    (output(step) ?? "").split(separator: "\n").map(String.init)
  }

  /// The output of a step: its log without the lines before the commands.
  ///
  /// - Parameter run: The run; nil for the last one that has the log.
  func output(_ step: String, inRun run: Int? = nil) -> String? {
    let last = (1...9).last { exists(log(step, inRun: $0)) } ?? 1
    return text(log(step, inRun: run ?? last)).map { log in
      log.split(separator: "\n", omittingEmptySubsequences: false)
        .filter { !$0.hasPrefix("=== ") }.joined(separator: "\n")
    }
  }
}

extension ProgramResult {
  /// The lines of standard output without the durations.
  var ends: [String] {
    text.split(separator: "\n").map { line in
      line.hasSuffix(")")
        ? String(line[..<(line.range(of: " (", options: .backwards)?.lowerBound ?? line.endIndex)])
        : String(line)
    }
  }
}
