internal import CompositeOperations

/// A clock whose time passes only when a test advances it.
///
/// ```swift
/// let clock = ManualClock()
/// let run = poll.start(in: OperationEnvironment(clock: clock))
/// await clock.waitForSleepers(1)
/// clock.advance(by: .seconds(30))
/// ```
public final class ManualClock: Clock, Sendable {
  /// An instant of a manual clock, given by its distance from the start of the clock.
  public struct Instant: InstantProtocol {
    /// The time from the start of the clock to the instant.
    public let offset: Duration

    /// Creates an instant.
    ///
    /// - Parameter offset: The time from the start of the clock to the instant.
    public init(offset: Duration) { self.offset = offset }

    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    public func duration(to other: Instant) -> Duration { other.offset - offset }
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private let machine = Lock(StateMachine())

  /// Creates a clock at its start.
  public init() {}

  /// The current instant. It changes only when the clock is advanced.
  public var now: Instant { machine.withLock { $0.now } }
  /// Zero, because the clock can be advanced by any duration.
  public var minimumResolution: Duration { .zero }

  /// The number of tasks that sleep on this clock.
  public var sleeperCount: Int { machine.withLock { $0.sleeperCount } }

  /// The earliest instant that a task sleeps until; nil if no task sleeps.
  public var nextDeadline: Instant? { machine.withLock { $0.nextDeadline } }

  /// Sleeps until the clock has been advanced to an instant.
  ///
  /// - Parameters:
  ///   - deadline: The instant to wake up at.
  ///   - tolerance: Ignored.
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

  /// Advances the clock, and wakes the sleepers whose deadlines have been reached, earliest first.
  ///
  /// - Parameter duration: The time to advance the clock by.
  /// - Precondition: `duration` is not negative.
  public func advance(by duration: Duration) {
    precondition(duration >= .zero, "`duration` must not be negative (was \(duration))")
    machine.withLock { $0.advanced(by: duration) }.perform()
  }

  /// Advances the clock to an instant. An instant in the past has no effect.
  ///
  /// - Parameter instant: The new current instant.
  public func advance(to instant: Instant) {
    advance(by: max(.zero, now.duration(to: instant)))
  }

  /// Waits until at least a number of tasks sleep on this clock.
  ///
  /// - Parameter count: The minimum number of tasks.
  public func waitForSleepers(_ count: Int) async {
    await withCheckedContinuation { continuation in
      machine.withLock { $0.waited(forSleepers: count, continuation) }.perform()
    }
  }
}
