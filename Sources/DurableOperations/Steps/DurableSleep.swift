public import CompositeOperations

/// An operation that waits for a time that outlives the process.
///
/// ```swift
/// import DurableOperations
///
/// let pause = DurableSleep(for: .seconds(3 * 86_400))
/// ```
///
/// In a durable run, the time at which it wakes is fixed once, by the wall clock of the store, and
/// stored. A process that takes over after that time does not wait. As a step of its own, a long
/// sleep parks the run, which then uses no worker and no memory. Within a composite it waits in
/// memory, without a place in its worker.
///
/// Outside a durable run, it waits on the clock of the environment.
public struct DurableSleep: ComposableOperation {
  /// How long it waits.
  public let duration: Duration
  /// The name, which distinguishes several sleeps in one step.
  public let name: String

  /// Creates a sleep.
  ///
  /// - Parameters:
  ///   - duration: How long it waits. Zero and negative durations do not wait.
  ///   - name: The name, which distinguishes several sleeps in one step.
  public init(for duration: Duration, named name: String = "sleep") {
    self.duration = duration
    self.name = name
  }

  public var operationName: String { name == "sleep" ? "DurableSleep" : name }

  public func perform(in context: OperationContext) async throws {
    guard let journal = context.journal as? RunJournal else {
      return try await context.pause(duration)
    }
    let part = try journal.part(JournalKey(reserved: "sleep", name))
    try await part.wait(until: part.wake(after: duration), in: context)
  }
}

extension RunJournal {
  /// The end of a wait, which is fixed when the wait first begins.
  func wake(after duration: Duration) async throws -> Int64 {
    if let text = stored?.value, let wake = Int64(text) { return wake }
    let began = session.now
    let (wake, overflow) = began.addingReportingOverflow(duration.roundedUpMilliseconds)
    let end = overflow ? Int64.max : wake
    try await store(.wake, "\(end)", began: began)
    return end
  }
}

extension Duration {
  /// The duration in milliseconds, rounded up; at most `Int64.max`.
  var roundedUpMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
    if overflow { return seconds < 0 ? .min : .max }
    let part = attoseconds / 1_000_000_000_000_000
    let isExact = attoseconds % 1_000_000_000_000_000 == 0
    let (sum, carry) = whole.addingReportingOverflow(part + (isExact || attoseconds < 0 ? 0 : 1))
    return carry ? .max : sum
  }
}
