internal import CompositeOperations
internal import SystemSupport

/// The entries of a recorder, most of them in three words each.
struct TraceEntries: Sendable {
  /// Holds the place of a run only where necessary: retaining a place costs as much as writing the
  /// entry.
  private enum Entry: Sendable {
    case created(OperationPlace, EventTime)
    case started(OperationID, EventTime)
    case endedInResult(OperationID, EventTime)
    /// An entry whose content is in ``TraceEntries/others``.
    case other(OperationPlace, EventTime)
  }

  private static let chunkSize = 8_192

  private let capacity: Int
  private(set) var count = 0
  private(set) var droppedCount = 0
  /// The full chunks, all of one size, so that growing copies none of them.
  private var chunks: [ContiguousArray<Entry>] = []
  /// The chunk that is being filled.
  private var chunk: ContiguousArray<Entry> = []
  /// The contents of other entries, in the order of the entries, also in chunks.
  private var others: [[TraceEntry.What]] = []
  private var otherCount = 0

  init(capacity: Int) { self.capacity = capacity }

  /// Appends an event that has a step. The start of a child is omitted, because the events of the
  /// child show it.
  mutating func append(_ step: OperationEvent.Step, of event: OperationEvent) {
    switch step {
    case .created: append(.created(event.place, event.time))
    case .started: append(.started(event.id, event.time))
    case .endedInResult: append(.endedInResult(event.id, event.time))
    case .childStarted: break
    }
  }

  /// Appends an event without a step.
  mutating func append(_ entry: TraceEntry) {
    if count < capacity {
      if otherCount % Self.chunkSize == 0 { others.append([]) }
      others[others.count - 1].append(entry.what)
      otherCount += 1
    }
    append(.other(entry.place, entry.time))
  }

  private mutating func append(_ entry: consuming Entry) {
    if count == capacity {
      droppedCount += 1
      return
    }
    if count % Self.chunkSize == 0 {
      if count > 0 { chunks.append(chunk) }
      chunk = []
      chunk.reserveCapacity(Self.chunkSize)
    }
    chunk.append(entry)
    count += 1
  }

  /// Calls a closure with the entries, in the order in which they arrived.
  func replay(_ body: (TraceEntry) -> Void) {
    var others = others.joined().makeIterator()
    var open: [OperationID: OperationPlace] = [:]
    func give(_ what: TraceEntry.What?, _ place: OperationPlace?, _ time: EventTime) {
      if let what, let place { body(TraceEntry(what, place: place, time: time)) }
    }
    for entry in (chunks + [chunk]).joined() {
      switch entry {
      case .created(let place, let time):
        open[place.id] = place
        give(.created, place, time)
      case .started(let id, let time): give(.started, open[id], time)
      case .endedInResult(let id, let time):
        give(.ended(.result, late: nil), open.removeValue(forKey: id), time)
      case .other(let place, let time):
        let what = others.next()
        if case .ended = what { open[place.id] = nil }
        give(what, place, time)
      }
    }
  }
}
