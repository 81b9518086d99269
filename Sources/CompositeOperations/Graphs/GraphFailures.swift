/// The nodes of a graph that failed, and the nodes that could not begin because of others.
struct GraphFailures: Sendable {
  /// The errors of the nodes that failed.
  private(set) var errors: [Int: any Error] = [:]
  /// The names of the operations that failed.
  private(set) var names: [Int: String] = [:]
  /// For each node that could not begin, the node that prevented it: a failed node, if there is
  /// one.
  private var blame: [Int: Int] = [:]

  mutating func failed(_ node: Int, with error: any Error) { errors[node] = error }

  mutating func called(_ node: Int, _ name: String) { names[node] = name }

  /// Records a node that could not begin.
  ///
  /// - Parameter missing: The nodes that it needs and that gave no result.
  mutating func couldNotBegin(_ node: Int, without missing: [Int]) {
    let blamed = missing.map { blame[$0] ?? $0 }
    blame[node] = blamed.first { errors[$0] != nil } ?? blamed.first
  }

  /// The node that prevented a node from beginning; nil if it was none.
  func cause(of node: Int) -> Int? { blame[node] }

  /// The nodes that could not begin, by the node that prevented it.
  var unbegun: [Int: [Int]] {
    Dictionary(grouping: blame.keys) { blame[$0] ?? $0 }
  }

  /// The error that prevented a node from beginning; nil if it was a cancellation.
  func errorBehind(_ node: Int) -> (any Error)? { blame[node].flatMap { errors[$0] } }
}
