/// A command or an action in the table of completions.
struct CompletionNode {
  let name: String
  let summary: String
  /// The values of the positional arguments, in order.
  var positions: [CompletionValue] = []
  /// Whether the last position takes any number of arguments.
  var repeatsLastPosition = false
  /// The words that may follow the positions. Each selects what follows it.
  var actions: [CompletionNode] = []
  var options: [CompletionOption] = []

  init(
    _ name: String, _ summary: String, positions: [CompletionValue] = [],
    repeatsLastPosition: Bool = false, actions: [CompletionNode] = [],
    options: [CompletionOption] = []
  ) {
    (self.name, self.summary) = (name, summary)
    (self.positions, self.repeatsLastPosition) = (positions, repeatsLastPosition)
    (self.actions, self.options) = (actions, options)
  }

  /// This node, and all nodes below its actions.
  ///
  /// - Parameter words: The words that select this node.
  func contexts(after words: [String] = []) -> [CompletionContext] {
    [CompletionContext(words: words.joined(separator: " "), node: self)]
      + actions.flatMap { $0.contexts(after: words + [$0.name]) }
  }
}

/// An option of a command.
struct CompletionOption {
  let name: String
  let summary: String
  /// Nil for an option without a value.
  let value: CompletionValue?

  init(_ name: String, _ summary: String, _ value: CompletionValue? = nil) {
    (self.name, self.summary, self.value) = (name, summary, value)
  }
}

/// The values that an option or a position takes.
enum CompletionValue {
  /// A file or a folder.
  case file
  case words([String])
  /// Names of the flow file that is the first positional argument.
  case names(CompletionCommand.Names)
  /// A text that cannot be completed.
  case text
}

/// A node with the words that select it, such as `records export`; empty for the first word.
struct CompletionContext {
  let words: String
  let node: CompletionNode

  /// The number of the position where an action is expected, from 1; nil without actions.
  var actionPosition: Int? { node.actions.isEmpty ? nil : node.positions.count + 1 }

  /// The patterns for `case` in bash and zsh that match the words and the number of a position.
  var positionPatterns: [(pattern: String, value: CompletionValue)] {
    node.positions.enumerated().map { index, value in
      let isRepeated = node.repeatsLastPosition && index == node.positions.count - 1
      return (isRepeated ? "'\(words) '*" : "'\(words) \(index + 1)'", value)
    }
  }
}
