/// The parts of a store that must exist before its first request, for command-line programs.
package struct StorePreparation: Sendable {
  /// A part, such as the schema or the queue.
  package struct Part: Sendable {
    /// The name of the part.
    package let name: String
    /// A description of the part, or of the problem.
    package let finding: String
    /// Whether the store can use the part as it is.
    package let isReady: Bool
    /// The command that creates the part, without passwords: a program with its arguments.
    package let command: [String]

    package init(_ name: String, _ finding: String, isReady: Bool, command: [String]) {
      self.name = name
      self.finding = finding
      self.isReady = isReady
      self.command = command
    }
  }

  /// The parts, in the order in which they are created.
  package let parts: [Part]
  /// Whether the address has a password, which the commands do not have.
  package let omitsPassword: Bool

  package init(parts: [Part], omitsPassword: Bool) {
    self.parts = parts
    self.omitsPassword = omitsPassword
  }

  /// Whether the store needs nothing else.
  package var isComplete: Bool { parts.allSatisfy(\.isReady) }
}
