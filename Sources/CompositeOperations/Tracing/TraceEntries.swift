/// Entries as a recorder keeps them: most of them in three words.
struct TraceEntries: Sendable {
  private enum Kind: UInt8, Sendable {
    case created, started, endedInResult, other
  }

  private struct Entry: Sendable {
    let place: OperationPlace
    let time: EventTime
    let kind: Kind
  }

  private static let chunkSize = 8_192

  private let capacity: Int
  private(set) var count = 0
  private(set) var droppedCount = 0
  /// Of one size, so that none is copied when more are needed.
  private var chunks: [ContiguousArray<Entry>] = []
  /// What the entries of the kind ``Kind/other`` tell, in their order, in chunks too.
  private var others: [[TraceEntry.What]] = []
  private var otherCount = 0

  init(capacity: Int) { self.capacity = capacity }

  mutating func append(_ entry: TraceEntry) {
    if count == capacity {
      droppedCount += 1
      return
    }
    if count % Self.chunkSize == 0 {
      var chunk = ContiguousArray<Entry>()
      chunk.reserveCapacity(Self.chunkSize)
      chunks.append(chunk)
    }
    let kind: Kind =
      switch entry.what {
      case .created: .created
      case .started: .started
      case .ended(.result, late: nil): .endedInResult
      case .waitingBegan, .waitingEnded, .noted, .askedToCancel, .ended: .other
      }
    if kind == .other {
      if otherCount % Self.chunkSize == 0 { others.append([]) }
      others[others.count - 1].append(entry.what)
      otherCount += 1
    }
    chunks[chunks.count - 1].append(Entry(place: entry.place, time: entry.time, kind: kind))
    count += 1
  }

  /// Gives the entries in the order in which they came.
  func replay(_ body: (TraceEntry) -> Void) {
    var others = others.joined().makeIterator()
    for chunk in chunks {
      for entry in chunk {
        let what: TraceEntry.What? =
          switch entry.kind {
          case .created: .created
          case .started: .started
          case .endedInResult: .ended(.result, late: nil)
          case .other: others.next()
          }
        guard let what else { return }
        body(TraceEntry(what, place: entry.place, time: entry.time))
      }
    }
  }
}
