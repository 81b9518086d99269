internal import Synchronization

/// The events of a started run and of everything below it.
///
/// ```swift
/// let run = sync.start(keepingEvents: 1_000)
/// for await event in run.events { print(event) }
/// ```
///
/// Whoever asks late gets those that are still kept, the last of them, and the end in any case; whoever is
/// slow loses events, and nobody waits for it. ``droppedCount`` says how many. The last event is the end of
/// the run.
public struct OperationEvents: AsyncSequence, Sendable {
  private final class Drops: Sendable {
    let count = Atomic(0)
  }

  private let log: EventLog?
  /// Waits for the end of a run that keeps no events; nil when the calling task is cancelled.
  private let end: @Sendable () async -> OperationEvent?
  private let drops = Drops()

  init(_ log: EventLog?, end: @escaping @Sendable () async -> OperationEvent?) {
    self.log = log
    self.end = end
  }

  /// How many events were not kept until this one's iterators came to them.
  public var droppedCount: Int { drops.count.load(ordering: .relaxed) }

  public func makeAsyncIterator() -> Iterator { Iterator(events: self) }

  /// Goes through the events in the order in which they came.
  public struct Iterator: AsyncIteratorProtocol {
    private let events: OperationEvents
    private var index = 0
    private var isOver = false

    fileprivate init(events: OperationEvents) { self.events = events }

    /// The next event; waits for it.
    ///
    /// - Returns: Nil behind the end of the run, and when the task is cancelled.
    public mutating func next() async -> OperationEvent? {
      await next(isolation: #isolation)
    }

    /// The next event; waits for it.
    ///
    /// - Returns: Nil behind the end of the run, and when the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async -> OperationEvent? {
      if isOver { return nil }
      guard let log = events.log else {
        isOver = true
        return await events.end()
      }
      guard let (event, found) = await log.event(at: index) else {
        isOver = true
        return nil
      }
      if found > index {
        events.drops.count.wrappingAdd(found - index, ordering: .relaxed)
      }
      index = found + 1
      return event
    }
  }
}
