/// A piece of work, and the ways to do it. Figures are compared with the first way of this package.
struct Shape: Sendable {
  /// A stable identifier for goals, filters and programs that read the figures.
  let id: String
  let title: String
  /// The number of operations in a run; most figures are per operation.
  let operations: Int
  var unit = Unit.nanosecondsPerOperation
  /// Whether all ways do the same work, so that any two of them can be compared.
  var hasEqualWays = true
  /// The equivalent shapes in the protocol of the peers, whose ways are added to this one.
  var peerShapes: [String] = []
  /// A program with ways of its own that is not installed.
  var missingProgram: String?
  var ways: [Way]

  /// Returns the shape with only the selected ways.
  func choosing(_ isChosen: (Way) -> Bool) -> Shape {
    var chosen = self
    chosen.ways = ways.filter(isChosen)
    return chosen
  }
}
