/// A body that its run need not wait for.
///
/// It runs in a task of its own and is cancelled when it is left behind. How it ends then is told by
/// an event of the run, and what it comes to is given up.
final class AbandonableBody<Success: Sendable>: Sendable {
  typealias End = Result<HeldResult<Success>, any Error>

  private let machine = Lock(StateMachine())
  private let scope: OperationScope?

  private init(scope: OperationScope?) { self.scope = scope }

  /// Performs a body and waits for its end, for its time to be over, or for the run to be cancelled.
  ///
  /// - Parameter limit: How long to wait, by the clock of the environment; nil for any time.
  /// - Returns: Nil if the time was over first.
  /// - Throws: What the body threw, or `CancellationError` if the run was cancelled first.
  static func perform(
    in context: OperationContext, within limit: Duration? = nil,
    _ body: @escaping @Sendable (OperationContext) async throws -> HeldResult<Success>
  ) async throws -> HeldResult<Success>? {
    let abandonable = AbandonableBody(scope: context.scope)
    let task = UnstructuredTasks.start(on: Task.preferredExecutor) {
      guard abandonable.machine.withLock({ $0.began() }) else { return }
      do {
        abandonable.ended(.success(try await body(context.onFreshStack)))
      } catch {
        abandonable.ended(.failure(error))
      }
    }
    if let limit {
      await withDiscardingTaskGroup { group in
        group.addImmediateTask {
          if (try? await context.wait(limit)) != nil { abandonable.leave() }
        }
        await abandonable.wait()
        group.cancelAll()
      }
    } else {
      await abandonable.wait()
    }
    if let end = abandonable.machine.withLock({ $0.end }) { return try end.get() }
    CancellationReports.deferring { task.cancel() }
    try Task.checkCancellation()
    return nil
  }

  private func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        machine.withLock { $0.waited(waiter) }?.resume()
      }
    } onCancel: {
      leave()
    }
  }

  private func leave() { machine.withLock { $0.left() }?.resume() }

  private func ended(_ end: End) {
    switch machine.withLock({ $0.ended(end) }) {
    case .none: break
    case .resume(let waiter): waiter.resume()
    case .giveUp:
      scope?.report(.abandonedBodyEnded(Outcome(end)))
      switch end {
      case .success(let held): held.disposal?()
      case .failure(let error): error.discardCarriedValues()
      }
    }
  }
}

extension Outcome<any Sendable> {
  fileprivate init(_ end: Result<HeldResult<some Sendable>, any Error>) {
    switch end {
    case .success(let held): self = .result(held.value)
    case .failure(let error): self = error.meansCancellation ? .cancelled : .error(error)
    }
  }
}
