/// An observer that computes the progress of runs and of everything below them.
///
/// ```swift
/// let progress = ProgressObserver()
/// let run = sync.start(in: OperationEnvironment(observers: [progress]))
/// print(progress.progress)
/// for branch in progress.branches { print("\(branch.name): \(branch.progress)") }
/// ```
///
/// The progress of a run is what its body reports by ``OperationContext/report(_:of:unit:)``. If
/// the body reports nothing, it is the weighted average of its children's progress, provided that
/// the number of children is known: composites of lists, graphs and linear sequences declare it,
/// and a body can declare it by ``OperationContext/expectChildren(_:)``. The fraction of any other
/// run is unknown until it ends in a result. A retried operation has the progress of its furthest
/// attempt. A failed child counts as completed, and a cancelled child keeps the progress that it
/// has made.
///
/// The memory in use grows with the number of unfinished runs, not with the number of ended ones.
public final class ProgressObserver: OperationObserver {
  private let machine: Lock<StateMachine>
  private let onChange: (@Sendable (OperationProgress) -> Void)?

  /// Creates an observer.
  ///
  /// - Parameter onChange: Called when ``progress`` has changed, on the thread that reports the
  ///   event. Calls do not overlap: one further call reports the changes during a call.
  public init(onChange: (@Sendable (OperationProgress) -> Void)? = nil) {
    machine = Lock(StateMachine())
    self.onChange = onChange
  }

  /// The progress of the outermost run, or of the last one if none is running.
  ///
  /// If several outermost runs overlap, this is the average of their fractions. An ended run counts
  /// as completed until all have ended, and an unknown fraction as 0. The average decreases when
  /// another run begins.
  public var progress: OperationProgress { machine.withLock { $0.progress } }

  /// The unfinished runs and their progress, each run after its parent.
  ///
  /// - Complexity: O(*n* log *n*), where *n* is the number of unfinished runs.
  public var branches: [Branch] { machine.withLock { $0.branches } }

  /// Nil: the observer needs no log messages.
  public var leastLogLevel: OperationLogLevel? { nil }

  public func observe(_ event: OperationEvent) {
    guard let onChange else { return machine.withLock { $0.observed(event) } }
    guard machine.withLock({ $0.observedForTelling(event) }) else { return }
    while let progress = machine.withLock({ $0.toTell() }) { onChange(progress) }
  }

  /// An unfinished run.
  public struct Branch: Sendable, Identifiable {
    /// The identity of the run.
    public let id: OperationID
    /// The number of unfinished ancestors that the observer sees; 0 for an outermost run.
    public let level: Int
    /// The name of the operation.
    public let name: String
    /// The number of the attempt that the run is, from 1.
    public let attempt: Int
    /// When the run was created.
    public let began: ContinuousClock.Instant
    /// The progress of the run.
    public let progress: OperationProgress
    /// The reason why the run waits; nil if it does not wait.
    public let wait: OperationEvent.Wait?
    /// The number of direct children that have ended.
    public let endedCount: Int
  }
}
