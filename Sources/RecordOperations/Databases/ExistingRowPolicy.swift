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
