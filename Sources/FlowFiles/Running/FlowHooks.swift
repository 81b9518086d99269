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
    case .interrupted, .cancelled: self = .interrupted
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
  private let mark: String
  private let run: Int?
  private let timeout: Duration

  /// - Parameters:
  ///   - mark: See ``FlowJournal/mark``. By it, a command that outlives the flow is found before the
  ///     next run.
  ///   - run: The number of the run; nil if the journal cannot be read.
  ///   - timeout: The maximum duration of each command.
  package init(
    _ file: FlowFile, in folder: FlowFolder, mark: String, run: Int?,
    timeout: Duration = .seconds(60)
  ) {
    (self.file, self.folder, self.mark) = (file, folder, mark)
    (self.run, self.timeout) = (run, timeout)
  }

  /// Runs the command for the state of the run, and then the command for all runs.
  ///
  /// - Parameters:
  ///   - ends: How the steps have ended, and the failed children.
  ///   - error: The error that has ended the run, if it was no failure of a step.
  ///   - began: When the run began, in milliseconds since 1970.
  ///   - report: Receives a message for each command that fails.
  package func perform(
    _ state: FlowRunState, _ ends: [FlowEnd], error: (any Error)? = nil, runBegan began: Int64,
    report: (String) -> Void
  ) async {
    for occasion in [FlowOccasion(state), .always] {
      guard let command = file.occasions[occasion] else { continue }
      let log = FlowLog(folder.log(of: "on \(occasion)"))
      do {
        let process = launch(command, state, ends, error).process
        _ = try await process.sendingOutput(to: output(log, began)).mergingErrorOutput()
          .timingOut(after: timeout).run().get()
      } catch {
        let lines = log.lastLines(20).map { "\n  \($0)" }.joined()
        let end = lines.isEmpty ? "" : "; its last lines:\(lines)"
        report("'\(occasion)' of on failed: \(FlowFailure(error))\(end)")
      }
    }
  }

  /// The log. On a full disk, the command runs without it.
  private func output(_ log: FlowLog, _ began: Int64) -> ProcessOutput.Destination {
    do {
      try log.begin(runBegan: began)
      try log.append([])
      return .appended(to: log.path)
    } catch { return .discarded }
  }

  private func launch(
    _ command: FlowCommand, _ state: FlowRunState, _ ends: [FlowEnd], _ error: (any Error)?
  ) -> FlowLaunch {
    var launch = FlowLaunch(command, of: nil, file, file.texts, in: folder)
    let failed = ends.filter { $0.state == .failed }
    // A step with children has no log of its own.
    let logged = failed.first { !FileSystem.isMissing(folder.log(of: $0.unit)) }
    let first = logged ?? failed.first
    let reason =
      first.map { "\($0.unit.onOneLine): \($0.reason ?? "")" } ?? error.map { "\($0)" } ?? ""
    // A command that reads the log of a failure finds a file in any case.
    let log = first == nil && error == nil ? "" : "/dev/null"
    launch.variables.merge([
      "FLOW_RUN": run.map { "\($0)" } ?? "", "FLOW_STATUS": state.rawValue,
      "FLOW_FAILED": Self.lines(failed.map(\.unit.onOneLine)),
      "FLOW_REASON": Self.lines([reason.onOneLine]),
      "FLOW_LOG": logged.map { folder.log(of: $0.unit) } ?? log,
      FlowProcesses.variable: mark,
      // A flow can be a command of another one.
      FlowProcessTree.variable: "",
    ]) { $1 }
    return launch
  }

  /// As many of the lines as a variable can have.
  private static func lines(_ lines: [String]) -> String {
    var size = 0
    return lines.prefix { line in
      size += line.utf8.count + 1
      return size <= mostBytes
    }.joined(separator: "\n")
  }
}
