import CompositeOperations
import CompositeOperationsTestKit

/// A modifier in the table of pairs.
enum PairModifier: String, CaseIterable {
  case retrying, repeating, timingOut, delayed, fallingBack, finally
  case requiring, exclusive, throttled

  var code: String {
    switch self {
    case .retrying: "retrying(attempts: 2)"
    case .repeating: "repeating(times: 2)"
    case .timingOut: "timingOut(after: .seconds(2.5))"
    case .delayed: "delayed(by: .seconds(1))"
    case .fallingBack: "fallingBack(to: cached)"
    case .finally: "finally { _ in close() }"
    case .requiring: "requiring(isOnline)"
    case .exclusive: "exclusive(in: lock)"
    case .throttled: "throttled(to: 1, per: .seconds(10))"
    }
  }
}

/// Runs an operation with two modifiers on a clock that advances from one deadline to the next.
///
/// The operation takes two seconds. Its first run fails, and its second run returns 7.
final class PairScene: Sendable {
  private let clock = ManualClock()
  private let lock = Permits(1)
  private let attempts = Log<Void>()
  private let askings = Log<Void>()
  private let closings = Log<Void>()

  /// Returns the outcome, the time, and the counts of what the modifiers did, as text for the
  /// table.
  static func tale(of inner: PairModifier, _ outer: PairModifier, on base: Base) -> String {
    let scene = PairScene()
    let operation = scene.modified(scene.modified(scene.base(base), by: inner), by: outer)
    let (outcome, held) = scene.play(operation)
    var tale = ["\(outcome), \(seconds(scene.clock.now.offset))"]
    let both = [inner, outer]
    if both.contains(.requiring) { tale.append("asked \(scene.askings.count)×") }
    if both.contains(.finally) { tale.append("closed \(scene.closings.count)×") }
    if both.contains(.exclusive) { tale.append("held \(seconds(held))") }
    return tale.joined(separator: "; ")
  }

  private static func seconds(_ duration: Duration) -> String {
    let tenths = Int(duration / .milliseconds(100))
    return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
  }

  // MARK: The operation

  enum Base: CaseIterable { case simple, parallel, sequential }

  private func base(_ kind: Base) -> any ComposableOperation<Int> {
    let simple = SimpleOperation { [self] in
      attempts.add(())
      let isFirst = attempts.count == 1
      try await clock.sleep(for: .seconds(2))
      if isFirst { throw TestError("failed") }
      return 7
    }
    switch kind {
    case .simple: return simple
    case .parallel: return ParallelOperation([simple]).map { $0[0] }
    case .sequential: return SequentialOperation(LinearSequence([simple])).map { _ in 7 }
    }
  }

  private func modified(
    _ base: any ComposableOperation<Int>, by modifier: PairModifier
  ) -> any ComposableOperation<Int> {
    modified(opened: base, by: modifier)
  }

  private func modified(
    opened base: some ComposableOperation<Int>, by modifier: PairModifier
  ) -> any ComposableOperation<Int> {
    switch modifier {
    case .retrying: base.retrying(attempts: 2)
    case .repeating: base.repeating(times: 2)
    case .timingOut: base.timingOut(after: .milliseconds(2_500))
    case .delayed: base.delayed(by: .seconds(1))
    case .fallingBack: base.fallingBack(to: SimpleOperation { 8 })
    case .finally: base.finally { [closings] _ in closings.add(()) }
    case .requiring:
      base.requiring(
        Condition("is online") { [askings] in
          askings.add(())
          return true
        })
    case .exclusive: base.exclusive(in: lock)
    case .throttled: base.throttled(to: 1, per: .seconds(10))
    }
  }

  // MARK: The run

  /// - Returns: The outcome, and how long the lock was held.
  private func play(_ operation: any ComposableOperation<Int>) -> (String, held: Duration) {
    let executor = SeededExecutor(seed: 1)
    let end = Log<String>()
    let environment = OperationEnvironment(clock: clock)
    Task(executorPreference: executor) { end.add(await operation.shortEnd(in: environment)) }
    var held = Duration.zero
    while true {
      executor.drain()
      if let outcome = end.entries.first { return (outcome, held) }
      guard let deadline = clock.nextDeadline else { return ("does not end", held) }
      if lock.leftCount == 0 { held += clock.now.duration(to: deadline) }
      clock.advance(to: deadline)
    }
  }
}

extension ComposableOperation<Int> {
  fileprivate func shortEnd(in environment: OperationEnvironment) async -> String {
    switch await run(in: environment) {
    case .result(let value): "\(value)"
    case .cancelled: "cancelled"
    case .error(let error): error is TimeoutError ? "timeout" : "failed"
    }
  }
}
