/// What was wrong with the rows of a file so far.
struct ImportLedger {
  /// There is more wrong than may be.
  struct Full: Error {
    let problems: [RowProblem]
  }

  private(set) var problems: [RowProblem] = []
  private let limit: Int

  init(_ badRows: BadRowPolicy) {
    limit =
      switch badRows {
      case .refused: 0
      case .skipped(let count): count
      }
  }

  /// - Throws: ``Full``.
  mutating func add(_ new: [RowProblem]) throws {
    if new.isEmpty { return }
    problems += new.sorted(by: RowProblem.precedes)
    if problems.count > limit { throw Full(problems: Array(problems.prefix(limit + 1))) }
  }
}
