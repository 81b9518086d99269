/// The children of a composite in the form in which workers take and run them: a list, a sequence
/// that creates them one by one, or the nodes of a graph.
///
/// A ``Scheduler`` decides which tasks run children and when, and is specialized for each source.
/// The source knows what a child is: how it is taken and run, and how its end is recorded.
protocol WorkSource: Sendable {
  /// What this source keeps for each puller.
  ///
  /// Small, because its copies and the frames of the children share the first kilobyte of the
  /// task's memory.
  associatedtype PullerState

  /// Whether workers of this source may have to wait for the next child. Then they do not count
  /// towards the process's limit.
  static var hasWaitingWorkers: Bool { get }

  /// The most children between two measurements of their duration.
  static var longestStride: Int32 { get }

  /// The state that the workers share.
  var run: ScheduledRun { get }

  /// Whether there are so many children that extra workers save time however short they are.
  var isLong: Bool { get }

  /// The type of operation whose recent durations predict those of the children; nil if it is not
  /// known.
  var hintedType: Any.Type? { get }

  /// Whether the run has not stopped and children may be left.
  var mayHaveWork: Bool { get }

  /// Whether another worker would have something to do beside those that are about to take a child.
  var hasWorkForHelper: Bool { get }

  /// Whether another worker would have something to do if all others kept their threads.
  var hasWorkForAnother: Bool { get }

  /// Whether a worker should have a standby worker.
  var needsStandby: Bool { get }

  /// Waits until there may be a child and a place for it.
  nonisolated(nonsending) func waitForWork() async -> Readiness

  /// Wakes a worker that waits, if there is one and there is work for it.
  func wakeWorker()

  /// Creates what the source keeps for a puller. ``end(_:)`` follows.
  func pullerState() -> PullerState

  func end(_ state: inout PullerState)

  /// Runs the children that a puller takes, until it takes no more or a child throws. Calls
  /// ``Scheduler/childEnded(_:isToStop:)`` after each child that has not thrown.
  static nonisolated(nonsending) func runChildren(
    of puller: inout Puller<Self>, in task: UnsafeCurrentTask, by scheduler: Scheduler<Self>
  ) async throws

  /// Records the error that the running child has thrown, and calls
  /// ``Scheduler/childEnded(_:isToStop:)``.
  static func childThrew(
    _ error: any Error, of puller: inout Puller<Self>, in task: UnsafeCurrentTask,
    by scheduler: Scheduler<Self>
  )
}

extension WorkSource {
  static var hasWaitingWorkers: Bool { false }
  static var longestStride: Int32 { SamplingInterval.longestStride }
  var needsStandby: Bool { hasWorkForHelper }
  var isLong: Bool { false }
  var hintedType: Any.Type? { nil }
  func wakeWorker() {}
}

/// Whether there is a child for a worker.
enum Readiness {
  /// There may be a child and a place for it.
  case ready
  /// As `ready`, and the worker has waited.
  case readyAfterWait
  /// No further child is left for the worker.
  case over
}
