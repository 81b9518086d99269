/// The evidence of a run over a source: every child, or, where results are not kept, those that
/// ended without one.
struct SourceEvidence<Child: ComposableOperation>: ParallelEvidence {
  private struct Entry: Sendable {
    let index: Int
    let name: String
    let outcome: Outcome<Child.Success>
    let origin: ParallelOperationError.Child.Origin
  }

  private let record: SourceRecord<Child>
  private let entries: [Entry]
  let causes: [Int]

  init(_ record: SourceRecord<Child>) {
    self.record = record
    var losses: [Int: Entry] = [:]
    for loss in record.losses {
      losses[loss.index] = Entry(
        index: loss.index, name: loss.name, outcome: loss.error.map(Outcome.error) ?? .cancelled,
        origin: loss.state.origin)
    }
    let entries =
      record.keepsResults
      ? record.results.enumerated().map { index, result in
        losses[index]
          ?? Entry(
            index: index, name: "\(Child.self)", outcome: result.map(Outcome.result) ?? .cancelled,
            origin: .itself)
      } : losses.values.sorted { $0.index < $1.index }
    var positions: [Int: Int] = [:]
    for (position, entry) in entries.enumerated() { positions[entry.index] = position }
    self.entries = entries
    causes = record.losses.filter { $0.state.origin == .itself }.compactMap { positions[$0.index] }
  }

  var count: Int { entries.count }
  var outcomes: any Sendable { entries.map(\.outcome) }
  var sourceError: (any Error)? { record.sourceError }

  func child(at position: Int) -> ParallelOperationError.Child {
    let entry = entries[position]
    return ParallelOperationError.Child(
      index: entry.index, name: entry.name, outcome: entry.outcome.map { $0 },
      origin: entry.origin)
  }

  func discardValues() {
    record.disposals.disposeInOrder()
    for loss in record.losses { (loss.error as? any ValueCarrying)?.discardValues() }
  }
}
