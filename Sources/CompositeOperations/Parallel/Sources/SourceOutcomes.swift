/// How the children of a source ended: all children that began, or, if results are not kept, the
/// children without a result.
struct SourceOutcomes<Value: Sendable>: ChildOutcomes {
  private struct Entry: Sendable {
    let index: Int
    let name: String
    let outcome: Outcome<Value>
    let origin: ParallelOperationError.Child.Origin
  }

  private let record: SourceRun.Record
  private let entries: [Entry]
  let causes: [Int]

  /// - Parameters:
  ///   - outcomes: The outcomes of all children; nil if results were not kept.
  ///   - name: The name for children with a result, whose own names were not kept.
  init(_ record: SourceRun.Record, outcomes: [Outcome<Value>]?, name: String) {
    self.record = record
    var losses: [Int: Entry] = [:]
    for loss in record.losses {
      losses[loss.index] = Entry(
        index: loss.index, name: loss.name, outcome: loss.error.map(Outcome.error) ?? .cancelled,
        origin: loss.state.origin)
    }
    let entries =
      outcomes.map { outcomes in
        outcomes.enumerated().map { index, outcome in
          losses[index] ?? Entry(index: index, name: name, outcome: outcome, origin: .itself)
        }
      } ?? losses.values.sorted { $0.index < $1.index }
    var positions: [Int: Int] = [:]
    for (position, entry) in entries.enumerated() { positions[entry.index] = position }
    self.entries = entries
    causes = record.losses.filter { $0.state.origin == .itself }.compactMap { positions[$0.index] }
  }

  var count: Int { entries.count }
  var outcomes: any Sendable { entries.map(\.outcome) }
  var sourceError: (any Error)? { record.sourceError }

  func index(at position: Int) -> Int { entries[position].index }
  func name(at position: Int) -> String { entries[position].name }
  func outcome(at position: Int) -> Outcome<any Sendable> { entries[position].outcome.map { $0 } }
  func error(at position: Int) -> (any Error)? { entries[position].outcome.error }
  func isCancelled(at position: Int) -> Bool { entries[position].outcome.isCancelled }

  func origin(at position: Int) -> ParallelOperationError.Child.Origin {
    entries[position].origin
  }

  func discardResults() { record.cleanups.runInOrder() }
  var errors: [any Error] { record.losses.compactMap(\.error) }
}
