import CompositeOperations
import CompositeOperationsTestKit

/// Waits at a gate, and returns the number of its run, from 1.
struct SharedCount: ComposableOperation {
  let begun: Log<Int>
  var gate = Gate(isOpen: true)
  var ended = Log<String>()

  func perform(in context: OperationContext) async throws -> Int {
    let number = begun.addNumber()
    do { try await gate.pass() } catch {
      ended.add("cancelled")
      throw error
    }
    ended.add("passed")
    return number
  }
}
