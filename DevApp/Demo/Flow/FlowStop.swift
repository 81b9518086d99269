import CompositeOperations
import FlowFiles

/// Cancels what the steps of a run do when one of them has failed.
final class FlowStop: Sendable {
  private struct State {
    var isStopped = false
    /// The functions that cancel what is running.
    var running: [Int: @Sendable () -> Void] = [:]
    var last = 0
  }

  private let state = Lock(State())

  var isStopped: Bool { state.withLock(\.isStopped) }

  func stop() {
    let running = state.withLock { state in
      state.isStopped = true
      defer { state.running = [:] }
      return Array(state.running.values)
    }
    for cancel in running { cancel() }
  }

  /// Runs a body in a task that the stop cancels.
  ///
  /// - Throws: The error of the body. After the stop, `CancellationError`, because the error of a
  ///   command that was terminated means nothing.
  func run<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let task = LinkedTask<Value, any Error>()
    guard let number = add({ task.cancel() }) else { throw CancellationError() }
    let result: Result<Value, any Error>
    do {
      result = .success(
        try await withTaskCancellationHandler {
          try await task.run(body)
        } onCancel: {
          task.cancel()
        })
    } catch {
      result = .failure(error)
    }
    let wasStopped = state.withLock { $0.running.removeValue(forKey: number) == nil }
    if wasStopped, case .failure = result { throw CancellationError() }
    return try result.get()
  }

  /// Adds what is running.
  ///
  /// - Returns: Its number; nil after the stop.
  private func add(_ cancel: @escaping @Sendable () -> Void) -> Int? {
    state.withLock { state in
      if state.isStopped { return nil }
      state.last += 1
      state.running[state.last] = cancel
      return state.last
    }
  }
}

/// An operation that ends with the stop of the flow.
struct FlowStoppedOperation<Base: ComposableOperation>: ComposableOperation {
  let base: Base
  let stop: FlowStop

  var operationName: String { base.operationName }

  func perform(in context: OperationContext) async throws -> Base.Success {
    try await stop.run { try await base.perform(in: context) }
  }
}

extension FlowSession {
  /// Adds to an operation of a step that it is cancelled when a step fails, unless the step runs
  /// after others in any case.
  func stoppable<Success: Sendable>(
    _ operation: AnyOperation<Success>, of step: FlowStep
  ) -> AnyOperation<Success> {
    if keepsGoing || !step.after.isEmpty { return operation }
    return AnyOperation(FlowStoppedOperation(base: operation, stop: stop))
  }
}
