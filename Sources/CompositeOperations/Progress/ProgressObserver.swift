/// Sees how far runs are, and everything below them.
///
/// ```swift
/// let progress = ProgressObserver()
/// let run = sync.start(in: OperationEnvironment(observers: [progress]))
/// print(progress.progress)
/// for branch in progress.branches { print("\(branch.name): \(branch.progress)") }
/// ```
///
/// A run is as far as its body tells by ``OperationContext/report(_:of:unit:)``. One that tells nothing is as
/// far as its children are together, each by its weight, if it is known how many there will be: composites of
/// lists, graphs and linear sequences know it, and a body can say it by
/// ``OperationContext/expectChildren(_:)``. Of others it is known when they have ended in a result. What was
/// tried again is as far as the attempt that came furthest; a child that failed counts as done, one that was cancelled
/// as far as it came.
///
/// What it keeps grows with the runs that go on, and not with those that have ended.
public final class ProgressObserver: OperationObserver {
  private let machine: Lock<StateMachine>
  private let onChange: (@Sendable (OperationProgress) -> Void)?

  /// - Parameter onChange: Called where the progress of the whole has changed; never twice at a time, and what
  ///   changes meanwhile is told by one call behind it.
  public init(onChange: (@Sendable (OperationProgress) -> Void)? = nil) {
    machine = Lock(StateMachine())
    self.onChange = onChange
  }

  /// The progress of the outermost run that is seen or was seen last. Where several go on at once, all of them
  /// count the same, those that ended since none went on included; when one more begins it falls.
  public var progress: OperationProgress { machine.withLock { $0.progress } }

  /// What runs, each behind its parent, and how far it is.
  ///
  /// - Complexity: O(*n* log *n*) in the number of runs that go on.
  public var branches: [Branch] { machine.withLock { $0.branches } }

  public var leastLogLevel: OperationLogLevel? { nil }

  public func observe(_ event: OperationEvent) {
    guard let onChange else { return machine.withLock { $0.observed(event) } }
    guard machine.withLock({ $0.observedForTelling(event) }) else { return }
    while let progress = machine.withLock({ $0.toTell() }) { onChange(progress) }
  }

  /// A run that goes on.
  public struct Branch: Sendable, Identifiable {
    public let id: OperationID
    /// How many of the runs above it are seen; 0 for an outermost one.
    public let level: Int
    /// The name of the operation.
    public let name: String
    /// The number of the attempt that it is, from 1.
    public let attempt: Int
    /// When it came to be.
    public let began: ContinuousClock.Instant
    public let progress: OperationProgress
    /// What it waits for; nil if nothing.
    public let wait: OperationEvent.Wait?
    /// How many runs right below it have ended.
    public let endedCount: Int
  }
}
