/// A value of a flow file, before its meaning is known.
struct FlowNode: Sendable {
  enum Content: Sendable {
    /// An empty plain value, such as after `needs:` at the end of a line.
    case nothing
    /// A scalar as it is written: `no`, `~` and `1.10` are these texts.
    case text(String)
    case list([FlowNode])
    /// The entries in the order of the file, with duplicate keys.
    case mapping([Entry])
  }

  struct Entry: Sendable {
    let key: String
    let location: FlowLocation
    let value: FlowNode
  }

  let content: Content
  let location: FlowLocation

  /// The kind of value, for messages.
  var kind: String {
    switch content {
    case .nothing: "nothing"
    case .text: "a text"
    case .list: "a list"
    case .mapping: "a mapping"
    }
  }
}

/// The nodes of a file, and the problems that do not hide the rest of the file.
struct FlowNodeTree: Sendable {
  let root: FlowNode
  let problems: [FlowProblem]
}
