/// A piece of work, and the ways to do it. The first of ours is what the others are compared with.
struct Shape: Sendable {
  /// A name that stays: goals, filters and programs that read the figures use it.
  let id: String
  let title: String
  /// How many operations one run performs; most figures are per operation.
  let operations: Int
  var unit = Unit.nanosecondsPerOperation
  /// The shapes of the peers' protocol that are this one. Ways of other languages join it.
  var peerShapes: [String] = []
  var ways: [Way]

  /// The same with only those ways that are chosen.
  func choosing(_ isChosen: (Way) -> Bool) -> Shape {
    var chosen = self
    chosen.ways = ways.filter(isChosen)
    return chosen
  }
}
