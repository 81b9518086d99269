/// The workers of a store, which run the commands of a flow in place of its process.
package protocol FlowWorkers: Sendable {
  /// The store, without a password.
  var place: String { get }
  /// How many bytes `lines-of` reads at most.
  var mostLineBytes: Int { get }

  /// Gives a command to the workers, unless that was done before, and waits for its end.
  ///
  /// - Parameters:
  ///   - id: The name of the command, which no other command has, also of other flows.
  ///   - unit: The name of the step or the child, for messages.
  ///   - report: Reports a line for the user.
  /// - Returns: Nil if it was cancelled in the store.
  /// - Throws: A ``FlowCommandExistsError`` if the name has another command; the error of the store;
  ///   `CancellationError`.
  func result(
    of id: String, for unit: String, _ launch: FlowLaunch,
    report: @escaping @Sendable (String) -> Void
  ) async throws -> FlowCommandResult?

  /// Ends a command, and waits until it has ended.
  ///
  /// - Returns: Whether it has ended. It may not if no worker answers for a minute.
  func stop(_ id: String) async -> Bool

  /// Returns the result of a command that has ended; nil if it had not begun.
  func storedResult(of id: String) async -> FlowCommandResult?

  func close() async
}

/// The error of a command whose name the workers know for another command.
package struct FlowCommandExistsError: Error {
  package init() {}
}
