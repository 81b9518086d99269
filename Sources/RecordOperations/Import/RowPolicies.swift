/// The treatment of rows that cannot be imported.
public enum BadRowPolicy: Hashable, Sendable {
  /// The import fails.
  case refused
  /// The import skips bad rows and reports them in its result. It fails if there are more of them
  /// than this, counted by ``RowProblem/rowCount``, or if the rest of the file cannot be read.
  case skipped(atMost: Int)
}

/// The problems with the rows of a file so far.
struct ImportProblems {
  /// An error for more problems than are allowed.
  struct Full: Error {
    let problems: [RowProblem]
  }

  private(set) var problems: [RowProblem] = []
  /// The number of rows that may still be skipped.
  private var allowed: Int

  init(_ badRows: BadRowPolicy) {
    allowed =
      switch badRows {
      case .refused: 0
      case .skipped(let count): count
      }
  }

  /// Checks arguments of an import.
  ///
  /// - Precondition: `rowsPerTransaction` is at least 1, and the number of bad rows to skip is at
  ///   least 0.
  static func check(_ badRows: BadRowPolicy, rowsPerTransaction: Int?) {
    precondition(
      rowsPerTransaction ?? 1 >= 1,
      "`rowsPerTransaction` must be at least 1 (was \(rowsPerTransaction ?? 0))")
    if case .skipped(let count) = badRows {
      precondition(count >= 0, "`atMost` of `badRows` must be at least 0 (was \(count))")
    }
  }

  /// Adds problems.
  ///
  /// - Throws: ``Full`` if there are more than are allowed.
  mutating func add(_ new: [RowProblem]) throws {
    for problem in new.sorted(by: RowProblem.precedes) {
      problems.append(problem)
      // The number of rows in the rest of a file is not known, so that no limit allows them.
      if problem.rowCount == .max || problem.rowCount > allowed { throw Full(problems: problems) }
      allowed -= problem.rowCount
    }
  }
}
