/// The distribution of the pullers of a run over task groups.
///
/// Removing a task from a task group takes time in proportion to the others in it (Swift 6.3.1). So
/// pullers beyond the first few are in nested groups.
enum Shard {
  /// The most pullers in a nested group.
  static var size: Int { 128 }
  /// The most pullers that a worker's own group holds directly.
  static var direct: Int { 16 }
}
