/// How the pullers of a run are spread over task groups.
///
/// Taking a child out of a task group costs time in proportion to the others in it (Swift 6.3.1), so
/// those beyond the first few stand in groups within the group.
enum Shard {
  /// How many pullers a group within the group holds.
  static var size: Int { 128 }
  /// How many pullers the outermost group holds by itself.
  static var direct: Int { 16 }
}
