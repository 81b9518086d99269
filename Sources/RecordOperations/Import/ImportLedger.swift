/// The problems with the rows of a file so far.
struct ImportLedger {
  /// An error for more problems than are allowed.
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

  /// Adds problems.
  ///
  /// - Throws: ``Full`` if there are more than are allowed.
  mutating func add(_ new: [RowProblem]) throws {
    if new.isEmpty { return }
    problems += new.sorted(by: RowProblem.precedes)
    if problems.count > limit { throw Full(problems: Array(problems.prefix(limit + 1))) }
  }
}
