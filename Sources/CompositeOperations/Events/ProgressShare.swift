/// How a run contributes to the progress of its parent, how a child contributes to the run's own
/// progress, and whether counts by name include the run.
package struct ProgressShare: Sendable {
  /// The weight of the run among the children of its parent.
  // A `Double` would make `OperationPlace` larger.
  package var weight: Float = 1
  /// Whether its progress is its child's, because it is a modifier that runs one operation, once at
  /// a time, and ends as that operation does.
  package var isThatOfChild = false
  /// Whether it is the run of a modifier with the name of the operation that it runs as a child.
  /// Counts of runs by name exclude it.
  package var isOfModifier = false
}
