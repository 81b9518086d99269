import DurableOperations
import FlowFiles

/// The flows that `coop worker` runs.
enum KnownFlows {
  static let all: [any DurableSequence.Type] = [ClusterSum.self, ClusterPart.self]

  /// With the commands of flow files, which anyone who can write to the store may choose.
  static let withCommands = all + [FlowCommandRun.self]
}
