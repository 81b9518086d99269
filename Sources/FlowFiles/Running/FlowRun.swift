public import CompositeOperations
public import CompositeOperationsFoundation
import Foundation
import SystemSupport

/// What a run of a flow file runs.
public struct FlowRunOptions: Sendable {
  /// Which steps run.
  public var selection = FlowSelection()
  /// The name of the run that is continued, or begins: letters, digits, `.`, `_` and `-`. Nil for the last
  /// run with the same values and steps, if it has not succeeded.
  public var name: String?
  /// Whether a new run begins in any case.
  public var isFresh = false
  /// Whether the other steps continue after a failure.
  public var keepsGoing = false

  public init() {}
}

/// An operation that runs a flow file, or continues its last run.
///
/// ```swift
/// import FlowFiles
///
/// let file = try FlowFile(contentsOf: "pipeline.yaml", setting: ["day": "2026-11-30"])
/// let report = try await FlowRun(of: file).run().get()
/// print("run \(report.run) has succeeded")
/// ```
///
/// The commands run in the folder of the file, and each success is stored before the next step begins. If
/// the operation is cancelled, its commands are terminated, and the next run continues. Runs of one flow with
/// different names can be in progress at the same time, unless they use the same outputs.
///
/// The first run makes the process ignore SIGPIPE. While a flow runs on Linux, the process is the parent of
/// all its descendants whose parent has ended.
public struct FlowRun: ComposableOperation {
  private let file: FlowFile
  private let folder: FlowFolder
  private let options: FlowRunOptions
  private let onEvent: @Sendable (FlowEvent) -> Void
  private let commands = FlowRunningCommands()
  /// Opens the store whose workers run the commands; nil to run them in this process.
  package var workers: FlowWorkersOpener?
  /// Whether no other code of this process starts processes. Then a process without a sign of its step
  /// is one of the flow.
  package var isSole = false

  /// - Parameters:
  ///   - file: The flow file with its values.
  ///   - options: What runs.
  ///   - folder: The path of the folder of the state; nil for `.flow/<flow>` beside the file.
  ///   - onEvent: Receives what happens, on any thread.
  public init(
    of file: FlowFile, with options: FlowRunOptions = FlowRunOptions(),
    stateIn folder: String? = nil,
    onEvent: @escaping @Sendable (FlowEvent) -> Void = { _ in }
  ) {
    (self.file, self.options, self.onEvent) = (file, options, onEvent)
    self.folder = FlowFolder(ofFile: file.path, flow: file.name, state: folder)
  }

  /// The name of the flow.
  public var operationName: String { file.name }

  /// Runs the flow.
  ///
  /// - Returns: How its steps have ended. All have succeeded, are current, or were skipped by their
  ///   condition.
  /// - Throws: A ``FlowRunError`` if a step has failed; a ``FlowFileError`` if there is no such step; a
  ///   ``FlowLockedError`` if it is in progress, or a run in progress uses the same outputs; an error of
  ///   the system or of the state; `CancellationError`.
  public func perform(in context: OperationContext) async throws -> FlowReport {
    let runner = try FlowFileRunner(file, in: folder, options, onEvent: onEvent)
    return try await runner.run(on: workers, commands, isSole: isSole, in: context)
  }

  /// Sends a signal to the processes of the commands of the steps that this value is running.
  ///
  /// A step whose command has got a signal other than SIGSTOP and SIGCONT has not succeeded, and the run
  /// ends as a cancelled one.
  public func send(_ signal: ProcessSignal) { commands.send(signal.rawValue) }
}

/// The commands of the runs of a ``FlowRun`` that are in progress.
final class FlowRunningCommands: Sendable {
  private let runs = Lock<[ObjectIdentifier: FlowProcesses]>([:])

  func add(_ processes: FlowProcesses) -> ObjectIdentifier {
    let id = ObjectIdentifier(processes)
    runs.withLock { $0[id] = processes }
    return id
  }

  func remove(_ id: ObjectIdentifier) { _ = runs.withLock { $0.removeValue(forKey: id) } }

  func send(_ signal: Int32) {
    for processes in runs.withLock({ Array($0.values) }) { processes.send(signal) }
  }
}
