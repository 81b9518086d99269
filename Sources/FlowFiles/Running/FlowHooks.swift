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

  /// - Parameter unit: See ``unit``. Nil for the name of a step.
  init?(unit: String) {
    guard let occasion = Self.allCases.first(where: { $0.unit == unit }) else { return nil }
    self = occasion
  }

  /// The name of its command for logs. No step has a space in its name.
  var unit: String { "on \(self)" }
}

/// Runs the commands of `on` after all steps have ended. Their failures are messages: they do not
/// change the state of the run, which is stored before.
package struct FlowHooks: Sendable {
  /// Linux permits 128 KiB for a variable.
  private static let mostBytes = 32 << 10

  private let file: FlowFile
  private let folder: FlowFolder
  private let mark: String?
  private let run: Int?
  private let secrets: FlowSecrets
  private let timeout: Duration

  /// - Parameters:
  ///   - mark: See ``FlowJournal/mark``. By it, a command of a run that outlives the flow is found before
  ///     the next run.
  ///   - run: The number of the run; nil if the journal cannot be read.
  ///   - timeout: The maximum duration of each command.
  package init(
    _ file: FlowFile, in folder: FlowFolder, mark: String?, run: Int?,
    hiding secrets: FlowSecrets = .none, timeout: Duration = .seconds(60)
  ) {
    (self.file, self.folder, self.mark) = (file, folder, mark)
    (self.run, self.timeout, self.secrets) = (run, timeout, secrets)
  }

  /// Runs the command for the state of the run, and then the command for all runs.
  ///
  /// - Parameters:
  ///   - ends: How the steps have ended, and the failed children.
  ///   - error: The error that has ended the run, if it was no failure of a step.
  ///   - report: Receives a message for each command that fails.
  /// - Returns: The commands that were terminated because the task was cancelled while they ran. They also run in a
  ///   task that was cancelled before.
  @discardableResult
  package func perform(
    _ state: FlowRunState, _ ends: [FlowEnd], error: (any Error)? = nil, report: (String) -> Void
  ) async -> [String] {
    var interrupted: [String] = []
    for occasion in [FlowOccasion(state), .always] {
      guard let command = file.occasions[occasion] else { continue }
      let log = log(of: occasion.unit)
      var start = 0
      do {
        let launch = launch(command, state, ends, error)
        let process: ProcessOperation
        do {
          try folder.makeLogs(ofRun: run ?? 0)
          start = try log.begin(launch.words, as: occasion.unit).upperBound
          process = try log.receiving(launch.process)
        } catch {
          // On a full disk, it runs without its log.
          process = launch.process.sendingOutput(to: .discarded).mergingErrorOutput()
        }
        guard try await perform(process) else {
          interrupted.append("'\(occasion)' of on was interrupted")
          continue
        }
      } catch {
        let lines = log.lastLines(20, after: start).map { "\n  \($0)" }.joined()
        let end = lines.isEmpty ? "" : "; its last lines:\(lines)"
        report("'\(occasion)' of on failed: \(FlowFailure(error))\(end)")
      }
    }
    return interrupted
  }

  /// Performs a command.
  ///
  /// - Returns: Whether it has ended by itself, and was not terminated by a cancellation.
  private func perform(_ process: ProcessOperation) async throws -> Bool {
    // A signal that came before has ended the steps. One that comes now ends this command, and not the next one.
    let wasCancelled = Task.isCancelled
    let command = Task { [timeout] in await process.timingOut(after: timeout).run() }
    let outcome = await withTaskCancellationHandler {
      await command.value
    } onCancel: {
      if !wasCancelled { command.cancel() }
    }
    if case .cancelled = outcome { return false }
    _ = try outcome.get()
    return true
  }

  private func launch(
    _ command: FlowCommand, _ state: FlowRunState, _ ends: [FlowEnd], _ error: (any Error)?
  ) -> FlowLaunch {
    var launch = FlowLaunch(command, of: nil, file, file.texts, in: folder)
    let failed = ends.filter { $0.state == .failed }
    // A step with children has no log of its own.
    let logged = failed.first { !FileSystem.isMissing(log(of: $0.unit).path) }
    let first = logged ?? failed.first
    let reason =
      first.map { "\($0.unit.onOneLine): \($0.reason ?? "")" }
      ?? error.map { secrets.hidden(in: "\($0)") } ?? ""
    // A command that reads the log of a failure finds a file in any case.
    let noLog = first == nil && error == nil ? "" : "/dev/null"
    launch.variables.merge([
      "FLOW_RUN": run.map { "\($0)" } ?? "", "FLOW_STATUS": state.rawValue,
      "FLOW_FAILED": Self.lines(failed.map(\.unit.onOneLine)),
      "FLOW_REASON": Self.lines([reason.onOneLine]),
      "FLOW_LOG": logged.map { log(of: $0.unit).path } ?? noLog,
      FlowProcesses.variable: mark.flatMap { mark in
        run.map { FlowProcesses.value(mark, $0) }
      } ?? "",
      // A flow can be a command of another one.
      FlowProcessTree.variable: "",
    ]) { $1 }
    return launch
  }

  private func log(of unit: String) -> FlowLog {
    folder.log(of: unit, inRun: run ?? 0, hiding: secrets)
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
