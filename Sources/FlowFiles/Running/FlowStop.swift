import CompositeOperations

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
    if isStopped { throw CancellationError() }
    let task = UnstructuredTasks.start(on: nil) { () -> Result<Value, any Error> in
      do { return .success(try await body()) } catch { return .failure(error) }
    }
    let number = add { task.cancel() }
    let result = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    // Nil after the stop. The function is released outside the lock.
    let cancel = state.withLock { $0.running.removeValue(forKey: number) }
    if cancel == nil, case .failure = result { throw CancellationError() }
    return try result.get()
  }

  /// Adds what is running, or cancels it after the stop.
  private func add(_ cancel: @escaping @Sendable () -> Void) -> Int {
    let (number, isStopped) = state.withLock { state in
      state.last += 1
      if !state.isStopped { state.running[state.last] = cancel }
      return (state.last, state.isStopped)
    }
    if isStopped { cancel() }
    return number
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
