/// What becomes of a row whose key is there already.
public enum ExistingRowPolicy: Hashable, Sendable, CaseIterable {
  /// The row is a bad one.
  case refused
  /// Its values replace those that are there, in the columns that the file has. A row that has them already stays as
  /// it is, and is not counted.
  case updated
  /// What is there stays, and the row is not counted.
  case kept
}

/// What becomes of a file when one of its rows cannot be taken.
public enum BadRowPolicy: Hashable, Sendable {
  /// The run fails with it.
  case refused
  /// It is left out and told of in the result. The run fails if there are more of them.
  case skipped(atMost: Int)
}
