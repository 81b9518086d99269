/// Events as a recorder keeps them: without results, and most of them in three words.
struct TraceEvents: Sendable {
  struct Event: Sendable {
    enum What: UInt8, Sendable {
      case created, started, endedInResult, other
    }

    fileprivate let place: OperationPlace
    fileprivate let time: EventTime
    fileprivate let what: What
    /// What else there is to keep of it.
    fileprivate let detail: OperationEvent.Kind?

    /// - Returns: Nil for an event of which nothing is kept.
    init?(_ event: OperationEvent) {
      place = event.place
      time = event.time
      switch event.kind {
      case .childStarted, .progressed, .childrenExpected: return nil
      case .created: (what, detail) = (.created, nil)
      case .started: (what, detail) = (.started, nil)
      case .ended(.result, nil): (what, detail) = (.endedInResult, nil)
      case .ended(let outcome, let late):
        (what, detail) = (.other, .ended(outcome.withoutValue, late: late?.withoutValue))
      case .finishedAgain(let outcome):
        (what, detail) = (.other, .finishedAgain(outcome.withoutValue))
      case .abandonedBodyEnded(let outcome):
        (what, detail) = (.other, .abandonedBodyEnded(outcome.withoutValue))
      case .waitingBegan, .waitingEnded, .retryScheduled, .logged, .cancellationRequested:
        (what, detail) = (.other, event.kind)
      }
    }
  }

  private struct Entry: Sendable {
    let place: OperationPlace
    let time: EventTime
    let what: Event.What
  }

  private static let chunkSize = 8_192

  private let capacity: Int
  private(set) var count = 0
  private(set) var droppedCount = 0
  /// Of one size, so that none is copied when more are needed.
  private var chunks: [ContiguousArray<Entry>] = []
  /// Of the events that have one, in their order.
  private var details: [OperationEvent.Kind] = []

  init(capacity: Int) { self.capacity = capacity }

  mutating func append(_ event: Event) {
    if count == capacity {
      droppedCount += 1
      return
    }
    if count % Self.chunkSize == 0 {
      var chunk = ContiguousArray<Entry>()
      chunk.reserveCapacity(Self.chunkSize)
      chunks.append(chunk)
    }
    chunks[chunks.count - 1].append(
      Entry(place: event.place, time: event.time, what: event.what))
    count += 1
    if let detail = event.detail { details.append(detail) }
  }

  /// Gives the events in the order in which they came.
  func replay(_ body: (OperationEvent) -> Void) {
    var detail = details.makeIterator()
    for chunk in chunks {
      for entry in chunk {
        let kind: OperationEvent.Kind? =
          switch entry.what {
          case .created: .created
          case .started: .started
          case .endedInResult: .ended(.result(()), late: nil)
          case .other: detail.next()
          }
        guard let kind else { return }
        body(OperationEvent(kind: kind, place: entry.place, time: entry.time))
      }
    }
  }
}

extension Outcome<any Sendable> {
  /// The same, without the result: a trace keeps nobody's values.
  fileprivate var withoutValue: Outcome<any Sendable> { map { _ in () } }
}
