/// The treatment of an imported row whose key already exists.
public enum ExistingRowPolicy: Hashable, Sendable, CaseIterable {
  /// The row is a bad row.
  case refused
  /// The values of the row replace the existing ones, in the columns of the file. A row with the
  /// same values is neither changed nor counted.
  case updated
  /// The existing row stays, and the row is not counted.
  case kept
}

/// The treatment of rows that cannot be imported.
public enum BadRowPolicy: Hashable, Sendable {
  /// The import fails.
  case refused
  /// The import skips bad rows and reports them in its result. It fails if there are more of them
  /// than this.
  case skipped(atMost: Int)
}

/// The problems with the rows of a file so far.
struct ImportProblems {
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
