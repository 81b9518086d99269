import CompositeOperations
import CompositeOperationsFoundation
import DurableOperations
import FlowFiles
import SystemSupport

/// The process of a command, which the durable run identifies for the next claim.
struct LaunchedCommand {
  /// How many processes may end with their worker, as the engine limits claims without progress.
  private static let mostProcesses = 10

  private let process: ProcessOperation
  private let id: RunID
  private let store: RunStore
  private let check: @Sendable () throws -> Void
  /// Set when nothing of an earlier claim is running any more.
  private let mayBegin = Promise<Void>()
  /// The process; nil if it has not begun.
  private let launched = Promise<Int32?>()

  /// - Parameter check: Throws an error if this machine lacks what the command needs.
  init(
    _ process: ProcessOperation, id: RunID, in store: RunStore,
    check: @escaping @Sendable () throws -> Void
  ) {
    self.id = id
    self.store = store
    self.check = check
    self.process = process.onLaunch { [launched] in launched.set($0.processIdentifier) }
  }

  /// Terminates what earlier claims have left running, and runs the command.
  ///
  /// - Throws: A ``StoppedCommandError`` if the flow has asked for its end before.
  func result(in context: OperationContext) async throws -> ProcessResult {
    async let result = perform(in: context)
    do {
      var earlier: [FlowCommandProcess] = []
      while true {
        let isNew = Promise<Void>()
        let record = SimpleOperation { [earlier] in
          isNew.set(())
          return try await begin(after: earlier, in: context)
        }.journaled(as: "process \(earlier.count + 1)")
        let process = try await record.perform(in: context)
        if isNew.current != nil { break }
        earlier.append(process)
      }
    } catch {
      // It says why the process has not begun, and it ends when this task is cancelled.
      if !(error is UnlaunchedCommandError), !Task.isCancelled { throw error }
    }
    return try await result
  }

  /// Waits until nothing of an earlier claim is running, and the flow has not asked for the end of the
  /// command.
  func waitForBeginning() async throws { try await mayBegin.wait() }

  private func perform(in context: OperationContext) async throws -> ProcessResult {
    defer { launched.set(nil) }
    try await mayBegin.wait()
    return try await process.perform(in: context)
  }

  /// Begins the process after the end of earlier ones.
  ///
  /// - Returns: What identifies it for the next claim.
  private func begin(
    after earlier: [FlowCommandProcess], in context: OperationContext
  ) async throws -> FlowCommandProcess {
    if context.fencingToken ?? 1 > 1 || !earlier.isEmpty {
      try await FlowOrphans(earlier, mark: id.text).terminate { _ in
        .seconds(2)
      }
    }
    if earlier.count >= Self.mostProcesses {
      throw FlowFailure.other("the worker has ended \(earlier.count) times while it was running")
    }
    if try await store.isAskedToStop(id) { throw StoppedCommandError() }
    try check()
    mayBegin.set(())
    guard let number = try await launched.wait() else { throw UnlaunchedCommandError() }
    let began = ProcessTable.listed(number)?.began ?? 0
    return FlowCommandProcess(
      unit: id.text, process: number, began: began, boot: ProcessTable.boot)
  }
}

/// The flow has asked for the end of a command that has not begun.
struct StoppedCommandError: Error {}

/// The process of a command has not begun.
private struct UnlaunchedCommandError: Error {}
