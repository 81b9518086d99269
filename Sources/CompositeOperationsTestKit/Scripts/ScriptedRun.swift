internal import CompositeOperations

/// One run of a ``ScriptedOperation``: what it waits for, and how it ends.
///
/// ```swift
/// let run = ScriptedRun.result(7).after(.seconds(2)).ignoringCancellation()
/// ```
///
/// Waits follow one another in the order in which they are said. A run that is cancelled while it waits
/// stops, unless it ignores that.
public struct ScriptedRun<Success: Sendable>: Sendable {
  struct Wait: Sendable {
    enum Kind: Sendable {
      case time(Duration)
      case gate(Gate)
      case cancellation
    }

    let kind: Kind
    var isDeaf = false
  }

  private let end: Outcome<Success>
  private(set) var waits: [Wait] = []

  private init(end: Outcome<Success>) { self.end = end }

  /// Ends in a result.
  public static func result(_ value: Success) -> ScriptedRun { ScriptedRun(end: .result(value)) }

  /// Ends in an error.
  public static func error(_ error: any Error) -> ScriptedRun { ScriptedRun(end: .error(error)) }

  /// Cancels itself.
  public static var cancelled: ScriptedRun { ScriptedRun(end: .cancelled) }

  /// Goes on until it is cancelled, and stops then.
  public static var untilCancelled: ScriptedRun { cancelled.afterCancellation() }

  /// Waits for a time first, by the clock of the environment.
  ///
  /// - Precondition: `duration` is not negative.
  public func after(_ duration: Duration) -> ScriptedRun {
    precondition(duration >= .zero, "`duration` must not be negative (was \(duration))")
    return waiting(for: .time(duration))
  }

  /// Waits at a gate first, where a test can hold it.
  public func behind(_ gate: Gate) -> ScriptedRun { waiting(for: .gate(gate)) }

  /// Waits for its cancellation first, and does not stop because of it: the end comes too late.
  public func afterCancellation() -> ScriptedRun { waiting(for: .cancellation) }

  /// Goes on with all waits that are said before this one, though it is cancelled.
  public func ignoringCancellation() -> ScriptedRun {
    var run = self
    for index in run.waits.indices { run.waits[index].isDeaf = true }
    return run
  }

  func waiting(for kind: Wait.Kind, isDeaf: Bool = false) -> ScriptedRun {
    var run = self
    run.waits.append(Wait(kind: kind, isDeaf: isDeaf))
    return run
  }

  func perform(by clock: any Clock<Duration>) async throws -> Success {
    for wait in waits { try await wait.perform(by: clock) }
    return try end.get()
  }
}

extension ScriptedRun.Wait {
  fileprivate func perform(by clock: any Clock<Duration>) async throws {
    switch kind {
    case .time(.zero): break
    case .time(let duration) where isDeaf:
      await UnstructuredTasks.runShielded { try? await clock.sleep(for: duration) }
    case .time(let duration): try await clock.sleep(for: duration)
    case .gate(let gate) where isDeaf: await gate.passIgnoringCancellation()
    case .gate(let gate): try await gate.pass()
    case .cancellation:
      // A gate that nobody opens is passed by being cancelled alone.
      try? await Gate().pass()
    }
  }
}
