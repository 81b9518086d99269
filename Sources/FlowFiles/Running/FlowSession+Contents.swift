import CompositeOperations
import CompositeOperationsFoundation

extension FlowSession {
  /// Calls a function that looks at the files of a unit. If it may read their contents, it runs on a
  /// thread that may wait, so that timeouts and signals are not late.
  nonisolated(nonsending) func reading<Value: Sendable>(
    _ unit: FlowUnit, in context: OperationContext,
    _ body: @escaping @Sendable (FlowChecker) throws -> Value
  ) async throws -> Value {
    if unit.step.comparison == .stamp { return try body(checker) }
    return try await BlockingOperation { [checker] in try body(checker) }.perform(in: context)
  }

  /// Stores the files of current units with `compare: content` as they are now. An error does not matter: then their contents
  /// are read again. See ``FlowChecker/renewedRecord(of:)``.
  nonisolated(nonsending) func renewRecords(
    of units: [FlowUnit], in context: OperationContext
  ) async {
    if units.isEmpty { return }
    let renewal = BlockingOperation { [checker] in
      units.compactMap { try? checker.renewedRecord(of: $0) }
    }
    if let records = try? await renewal.perform(in: context) { try? await journal.renew(records) }
  }
}
