import CompositeOperations
import CompositeOperationsFoundation
import SystemSupport

/// When a command of `on` runs.
enum FlowOccasion: String, CaseIterable, Sendable {
  case success, failure, interrupted, always

  init(_ state: FlowRunState) {
    switch state {
    case .succeeded: self = .success
    case .failed: self = .failure
    case .interrupted, .cancelled, .running: self = .interrupted
    }
  }
}

/// Runs the commands of `on` after all steps have ended. Their failures are messages: they do not
/// change the state of the run, which is stored before.
package struct FlowHooks: Sendable {
  /// Linux permits 128 KiB for a variable.
  private static let mostBytes = 32 << 10

  private let file: FlowFile
  private let folder: FlowFolder
  private let run: Int
  private let secrets: FlowSecrets
  private let timeout: Duration

  /// - Parameters:
  ///   - run: The number of the run.
  ///   - timeout: The maximum duration of each command.
  package init(
    _ file: FlowFile, in folder: FlowFolder, run: Int, hiding secrets: FlowSecrets = .none,
    timeout: Duration = .seconds(60)
  ) {
    (self.file, self.folder, self.run, self.timeout) = (file, folder, run, timeout)
    self.secrets = secrets
  }

  /// Runs the command for the state of the run, and then the command for all runs.
  ///
  /// - Parameters:
  ///   - ends: How the steps have ended, and the failed children.
  ///   - report: Receives a message for each command that fails.
  package func perform(
    _ state: FlowRunState, _ ends: [FlowEnd], report: (String) -> Void
  ) async {
    for occasion in [FlowOccasion(state), .always] {
      guard let command = file.occasions[occasion] else { continue }
      let log = log(of: "on \(occasion)")
      var start = 0
      do {
        try folder.makeLogs(ofRun: run)
        let launch = launch(command, state, ends)
        start = try log.begin(launch.words, as: "on \(occasion)").upperBound
        _ = try await log.receiving(launch.process).timingOut(after: timeout).run().get()
      } catch {
        let lines = log.lastLines(20, after: start).map { "\n  \($0)" }.joined()
        let end = lines.isEmpty ? "" : "; its last lines:\(lines)"
        report("'\(occasion)' of on failed: \(FlowFailure(error))\(end)")
      }
    }
  }

  private func launch(
    _ command: FlowCommand, _ state: FlowRunState, _ ends: [FlowEnd]
  ) -> FlowLaunch {
    let values = file.texts
    var variables = file.variables
    let words: [String]
    switch command {
    case .program(let templates): words = templates.map { $0.text(values) }
    case .shell(let text):
      words = file.shell.map { $0.text(values) } + [text]
      variables.merge(values) { $1 }
    }
    for variable in file.environment { variables[variable.name] = variable.text.text(values) }
    let failed = ends.filter { $0.state == .failed }
    // A step with children has no log of its own.
    let first = failed.first { !FileSystem.isMissing(log(of: $0.unit).path) } ?? failed.first
    variables["FLOW_RUN"] = "\(run)"
    variables["FLOW_STATUS"] = state.rawValue
    variables["FLOW_FAILED"] = Self.lines(failed.map(\.unit.onOneLine))
    variables["FLOW_REASON"] =
      first.map { Self.lines(["\($0.unit.onOneLine): \($0.reason ?? "")".onOneLine]) } ?? ""
    variables["FLOW_LOG"] = first.map { log(of: $0.unit).path } ?? ""
    // A command that outlives the flow is ended before the next run.
    variables[FlowProcesses.variable] = "\(file.name)@\(folder.database)"
    return FlowLaunch(
      program: words.first ?? "", arguments: Array(words.dropFirst()), directory: folder.path,
      variables: variables, standardInput: nil, outputLimit: nil, basis: "")
  }

  private func log(of unit: String) -> FlowLog { folder.log(of: unit, inRun: run, hiding: secrets) }

  /// As many of the lines as a variable can have.
  private static func lines(_ lines: [String]) -> String {
    var size = 0
    return lines.prefix { line in
      size += line.utf8.count + 1
      return size <= mostBytes
    }.joined(separator: "\n")
  }
}
