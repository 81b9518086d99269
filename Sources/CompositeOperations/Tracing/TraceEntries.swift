/// Entries as a recorder keeps them: most of them in three words.
struct TraceEntries: Sendable {
  /// Only what must knows the place of a run: to keep a place alive costs as much as to write the entry.
  private enum Entry: Sendable {
    case created(OperationPlace, EventTime)
    case started(OperationID, EventTime)
    case endedInResult(OperationID, EventTime)
    /// What ``TraceEntries/others`` tell.
    case other(OperationPlace, EventTime)
  }

  private static let chunkSize = 8_192

  private let capacity: Int
  private(set) var count = 0
  private(set) var droppedCount = 0
  /// Those that are full, of one size, so that none is copied when more are needed.
  private var chunks: [ContiguousArray<Entry>] = []
  /// The one that is being filled.
  private var chunk: ContiguousArray<Entry> = []
  /// In the order of their entries, in chunks too.
  private var others: [[TraceEntry.What]] = []
  private var otherCount = 0

  init(capacity: Int) { self.capacity = capacity }

  /// Keeps what has a step. That a child has begun is told by what happens to the child.
  mutating func append(_ step: OperationEvent.Step, of event: OperationEvent) {
    switch step {
    case .created: append(.created(event.place, event.time))
    case .started: append(.started(event.id, event.time))
    case .endedInResult: append(.endedInResult(event.id, event.time))
    case .childStarted: break
    }
  }

  /// Keeps what has none.
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

  /// Gives the entries in the order in which they came.
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
