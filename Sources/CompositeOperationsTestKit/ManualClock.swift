internal import CompositeOperations

/// A clock that stands still until somebody advances it.
///
/// ```swift
/// let clock = ManualClock()
/// let run = poll.start(in: OperationEnvironment(clock: clock))
/// await clock.waitForSleepers(1)
/// clock.advance(by: .seconds(30))
/// ```
public final class ManualClock: Clock, Sendable {
  /// A moment of a manual clock, told by how far it is from the clock's beginning.
  public struct Instant: InstantProtocol {
    /// How far the moment is from the clock's beginning.
    public let offset: Duration

    /// Creates an instant.
    ///
    /// - Parameter offset: The time from the clock's beginning to the instant.
    public init(offset: Duration) { self.offset = offset }

    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    public func duration(to other: Instant) -> Duration { other.offset - offset }
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private let machine = Lock(StateMachine())

  /// A clock that stands at its beginning.
  public init() {}

  public var now: Instant { machine.withLock { $0.now } }
  public var minimumResolution: Duration { .zero }

  /// How many tasks sleep by this clock.
  public var sleeperCount: Int { machine.withLock { $0.sleeperCount } }

  /// The earliest moment that a task sleeps until, or nil if nobody sleeps.
  public var nextDeadline: Instant? { machine.withLock { $0.nextDeadline } }

  /// Sleeps until the clock has been advanced to a moment.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    let id = machine.withLock { $0.makeID() }
    let hasSlept = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        machine.withLock { $0.slept(id, until: deadline, continuation) }.perform()
      }
    } onCancel: {
      machine.withLock { $0.cancelled(id) }.perform()
    }
    machine.withLock { $0.left(id) }
    if !hasSlept { throw CancellationError() }
  }

  /// Moves the clock on and wakes those whose moment has come, the earliest first.
  ///
  /// - Precondition: `duration` is not negative.
  public func advance(by duration: Duration) {
    precondition(duration >= .zero, "`duration` must not be negative (was \(duration))")
    machine.withLock { $0.advanced(by: duration) }.perform()
  }

  /// Moves the clock on to a moment; a moment that has passed changes nothing.
  public func advance(to instant: Instant) {
    advance(by: max(.zero, now.duration(to: instant)))
  }

  /// Waits until a number of tasks sleep by this clock.
  public func waitForSleepers(_ count: Int) async {
    await withCheckedContinuation { continuation in
      machine.withLock { $0.waited(forSleepers: count, continuation) }.perform()
    }
  }
}
