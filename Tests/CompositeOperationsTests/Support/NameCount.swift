import CompositeOperations
import Synchronization

/// Counts the computations of operation names.
final class NameCount: Sendable {
  private let asked = Atomic(0)

  var count: Int { asked.load(ordering: .acquiring) }

  /// Returns an operation with the outcome of a body that counts the computations of its name here.
  func operation(
    named name: String = "counted", _ body: @escaping @Sendable () async throws -> Int
  ) -> any ComposableOperation<Int> {
    Counted(names: self, name: name, body: body)
  }

  private struct Counted: ComposableOperation {
    let names: NameCount
    let name: String
    let body: @Sendable () async throws -> Int

    var operationName: String {
      names.asked.wrappingAdd(1, ordering: .relaxed)
      return name
    }

    func perform(in context: OperationContext) async throws -> Int { try await body() }
  }
}
