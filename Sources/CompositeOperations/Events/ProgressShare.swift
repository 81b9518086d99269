/// How a run contributes to the progress of its parent, how a child contributes to the run's own
/// progress, and whether counts by name include the run.
struct ProgressShare: Sendable {
  /// What it weighs among its parent's children.
  // As short as the place of a run has room for.
  var weight: Float = 1
  /// Whether it is as far as its child, because it is a modifier that runs one operation once at a time
  /// and ends as that does.
  var isThatOfChild = false
  /// Whether it is the run of a modifier under the name of the operation that it runs as a child.
  /// Counts of runs by name do not include it.
  var isOfModifier = false
}
