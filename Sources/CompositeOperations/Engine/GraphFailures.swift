/// The nodes of a graph that ended without a result of their own accord, and those that could not begin
/// because of them.
struct GraphFailures: Sendable {
  /// Those that ended without a result, the first in time first.
  private(set) var nodes: [Int] = []
  private(set) var errors: [Int: any Error] = [:]
  /// What those call themselves that failed.
  private(set) var names: [Int: String] = [:]
  /// Of those that could not begin, who is to blame: one that ended in an error, if any did.
  private var blame: [Int: Int] = [:]

  /// - Parameter error: What the node ended in; nil if it cancelled itself.
  mutating func lost(_ node: Int, _ error: (any Error)?) {
    nodes.append(node)
    errors[node] = error
  }

  mutating func called(_ node: Int, _ name: String) { names[node] = name }

  /// - Parameter missing: Those that it needs and that gave no result.
  mutating func couldNotBegin(_ node: Int, without missing: [Int]) {
    let blamed = missing.map { blame[$0] ?? $0 }
    blame[node] = blamed.first { errors[$0] != nil } ?? blamed.first
  }

  /// The error because of which a node could not begin; nil if it was a cancellation.
  func errorBehind(_ node: Int) -> (any Error)? { blame[node].flatMap { errors[$0] } }
}
