internal import CompositeOperations

/// A run of a ``ScriptedOperation``: its waits, and how it ends.
///
/// ```swift
/// let run = ScriptedRun.result(7).after(.seconds(2)).ignoringCancellation()
/// ```
///
/// Waits follow one another in the order in which they are declared. A run that is cancelled during
/// a wait stops, unless it ignores the cancellation.
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

  /// Waits until it is cancelled, and then stops.
  public static var untilCancelled: ScriptedRun { cancelled.afterCancellation() }

  /// Adds a wait for a time, by the clock of the environment.
  ///
  /// - Parameter duration: The time to wait.
  /// - Precondition: `duration` is not negative.
  public func after(_ duration: Duration) -> ScriptedRun {
    precondition(duration >= .zero, "`duration` must not be negative (was \(duration))")
    return waiting(for: .time(duration))
  }

  /// Adds a wait at a gate, where a test can hold the run.
  public func behind(_ gate: Gate) -> ScriptedRun { waiting(for: .gate(gate)) }

  /// Adds a wait for the cancellation, which does not stop the run: its outcome is late.
  public func afterCancellation() -> ScriptedRun { waiting(for: .cancellation) }

  /// Makes all waits that are declared before this one ignore a cancellation.
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
      await UnstructuredTasks.runShielded { try? await clock.wait(for: duration) }
    case .time(let duration): try await clock.wait(for: duration)
    case .gate(let gate) where isDeaf: await gate.passIgnoringCancellation()
    case .gate(let gate): try await gate.pass()
    case .cancellation:
      // A gate that is never opened is left only by a cancellation.
      try? await Gate().pass()
    }
  }
}
