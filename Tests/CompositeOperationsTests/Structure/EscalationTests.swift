import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// A priority that is raised while operations wait.
@Suite struct EscalationTests {
  /// The compositions that run code in a separate task.
  enum Form: CaseIterable, CustomTestStringConvertible {
    case abandoning, abandoningByClock, condition, finally, prioritized, list, madeLazily

    var testDescription: String { "\(self)" }

    func callAsFunction(_ body: SimpleOperation<Void>) -> AnyOperation<Void> {
      switch self {
      case .abandoning: AnyOperation(body.timingOut(after: .seconds(1_000_000), .abandoning))
      case .abandoningByClock:
        AnyOperation(
          body.timingOut(
            until: ManualClock().now.advanced(by: .seconds(1)), on: ManualClock(), .abandoning))
      case .condition:
        AnyOperation(
          SimpleOperation {}.requiring(Condition(body.map { true }.named("is over"))))
      case .finally:
        AnyOperation(SimpleOperation {}.finally { _ in _ = await body.run() })
      case .prioritized: AnyOperation(body.prioritized(at: .utility))
      case .list: AnyOperation(ParallelOperation([body]).map { _ in })
      case .madeLazily: AnyOperation(ParallelOperation { [body] }.map { _ in })
      }
    }
  }

  @Test(arguments: Form.allCases)
  func `C2: a priority that is raised later reaches bodies in tasks of their own`(form: Form)
    async
  {
    let gate = Gate()
    let seen = Log<TaskPriority>()
    let operation = form(
      SimpleOperation {
        try await gate.pass()
        seen.add(Task.currentPriority)
      })
    let executor = InOrderExecutor()
    let task = Task(executorPreference: executor, priority: .background) { await operation.run() }
    executor.drain()
    task.escalatePriority(to: .high)
    gate.open()
    executor.drain()
    #expect(await task.value.result != nil)
    #expect(seen.entries == [.high])
  }
}
