extension ComposableOperation {
  /// The same operation, which fails when it takes too long.
  ///
  /// When the time is over the body is cancelled, and the run ends in a ``TimeoutError``, whatever the
  /// body returns. A cancellation from outside still counts before that. Where no time is given, or
  /// less than none, the body does not begin.
  ///
  /// What the time covers follows from the place in the chain: one attempt here, and all attempts
  /// together there.
  ///
  /// ```swift
  /// fetch.timingOut(after: .seconds(10)).retrying(attempts: 3)
  /// fetch.retrying(attempts: 3).timingOut(after: .seconds(25))
  /// ```
  ///
  /// - Parameters:
  ///   - limit: How long the operation may take, by the clock of the environment.
  ///   - mode: What is to become of a body that has been cancelled.
  public func timingOut(
    after limit: Duration, _ mode: TimeoutMode = .waiting
  ) -> some ComposableOperation<Success> {
    TimingOutOperation(base: self, limit: limit, mode: mode)
  }
}

/// What becomes of a body that took too long.
public enum TimeoutMode: Hashable, Sendable {
  /// The run ends when the body has returned, which it does soon if it minds its cancellation.
  case waiting
  /// The run ends at once, also when it is cancelled from outside, and leaves the body behind.
  ///
  /// The body goes on in a task of its own until it returns, and holds until then what it holds;
  /// ``OperationEvent/Kind/abandonedBodyEnded(_:)`` tells of its end. It is for what does not mind a
  /// cancellation.
  case abandoning
}

/// The error of an operation that took too long.
public struct TimeoutError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the operation.
  public let name: String
  /// How long it might have taken.
  public let limit: Duration

  public var description: String { "\(name) took longer than \(limit)" }
}

struct TimingOutOperation<Base: ComposableOperation>: TransparentOperation {
  let base: Base
  let limit: Duration
  let mode: TimeoutMode

  nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    try Task.checkCancellation()
    guard limit > .zero else { throw expiry }
    switch mode {
    case .waiting: return try await performAwaited(in: context)
    case .abandoning:
      let base = base
      let held = try await AbandonableBody.perform(in: context, within: limit) { context in
        try await base.performHeld(in: context)
      }
      guard let held else { throw expiry }
      return held
    }
  }

  private func performAwaited(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    let contest = Contest()
    try? await withThrowingDiscardingTaskGroup { group in
      // Who throws ends the other one.
      if context.isTooDeep {
        let context = context.onFreshStack
        group.addTask { try await play(in: context, against: contest) }
      } else {
        let context = context.oneDeeper
        group.addImmediateTask { try await play(in: context, against: contest) }
      }
      // A body that did not wait is over, and needs no clock.
      if contest.isDecided { return }
      group.addImmediateTask {
        // Cancelled, because the body is over or the run is cancelled.
        guard (try? await context.wait(limit)) != nil else { return }
        if contest.expire() { throw Over() }
      }
    }
    return try contest.end(orThrow: expiry)
  }

  private var expiry: TimeoutError { TimeoutError(name: operationName, limit: limit) }

  private nonisolated(nonsending) func play(
    in context: OperationContext, against contest: Contest
  ) async throws {
    do {
      contest.bodyEnded(.success(try await base.performHeld(in: context)))
    } catch {
      contest.bodyEnded(.failure(error))
    }
    throw Over()
  }
}

extension TimingOutOperation {
  private struct Over: Error {}

  /// Which came first, the end of the body or the end of its time.
  private final class Contest: Sendable {
    private struct State: Sendable {
      var hasExpired = false
      var end: Result<HeldResult<Base.Success>, any Error>?
    }

    private let state = Lock(State())

    var isDecided: Bool { state.withLock { $0.hasExpired || $0.end != nil } }

    func bodyEnded(_ end: Result<HeldResult<Base.Success>, any Error>) {
      state.withLock { $0.end = end }
    }

    /// - Returns: Whether the body is too late.
    func expire() -> Bool {
      state.withLock { state in
        if state.end == nil { state.hasExpired = true }
        return state.hasExpired
      }
    }

    /// The end of the run, when both are over. Where it was cancelled it does not count (O3).
    func end(orThrow expiry: TimeoutError) throws -> HeldResult<Base.Success> {
      let state = state.withLock { $0 }
      guard state.hasExpired else {
        // Without an end the body was cancelled before it could begin.
        guard let end = state.end else { throw CancellationError() }
        return try end.get()
      }
      switch state.end {
      case .success(let held): held.disposal?()
      case .failure(let error): error.discardCarriedValues()
      case nil: break
      }
      throw expiry
    }
  }
}
