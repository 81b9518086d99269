import DurableOperations

/// The flows that `DevApp worker` runs.
enum KnownFlows {
  static let all: [any DurableSequence.Type] = [ClusterSum.self, ClusterPart.self]
}
