internal import Synchronization

/// The events of a started run and of its descendants.
///
/// ```swift
/// let run = sync.start(keepingEvents: 1_000)
/// for await event in run.events { print(event) }
/// ```
///
/// A reader that begins late receives the events that are still kept, and the end in any case. A
/// slow reader loses events and never delays the run; ``droppedCount`` counts them. The last event
/// is the end of the run.
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

  /// The number of events that were dropped before the iterators of this sequence reached them.
  public var droppedCount: Int { drops.count.load(ordering: .relaxed) }

  public func makeAsyncIterator() -> Iterator { Iterator(events: self) }

  /// An iterator over the events, in the order in which they occurred.
  public struct Iterator: AsyncIteratorProtocol {
    private let events: OperationEvents
    private var index = 0
    private var isOver = false

    fileprivate init(events: OperationEvents) { self.events = events }

    /// Waits for the next event and returns it.
    ///
    /// - Returns: Nil after the end of the run, and when the task is cancelled.
    public mutating func next() async -> OperationEvent? {
      await next(isolation: #isolation)
    }

    /// Waits for the next event and returns it.
    ///
    /// - Parameter actor: The actor of the caller.
    /// - Returns: Nil after the end of the run, and when the task is cancelled.
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
