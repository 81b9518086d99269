import CompositeOperations
import Synchronization

/// Counts how often the names of operations are computed.
final class NameCount: Sendable {
  private let asked = Atomic(0)

  var count: Int { asked.load(ordering: .acquiring) }

  /// An operation that counts the requests for its name here, and ends as a body does.
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
