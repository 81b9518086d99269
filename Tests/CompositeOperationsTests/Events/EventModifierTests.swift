import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct EventModifierTests {
  @Test func `C1: an operation with its own observers is one run, whatever its other modifiers`()
    async
  {
    let inner = RecordingObserver()
    let operation = SimpleOperation { 1 }.observed(by: inner)
    let modified: [(name: String, operation: any ComposableOperation<Int>)] = [
      ("observed", operation), ("erased", AnyOperation(operation)),
      ("named", operation.named("named")), ("discarding", operation.discarding { _ in }),
      ("prioritized", operation.prioritized(at: .low)),
      ("observed twice", operation.observed(by: RecordingObserver())),
    ]
    for (name, operation) in modified {
      let outer = RecordingObserver()
      _ = await ParallelOperation([operation]).observed(by: outer).run()
      let created = outer.events.filter(\.isCreation).map { "\($0.path)" }
      #expect(
        created == ["ParallelOperation", "ParallelOperation/\(operation.operationName)"], "\(name)")
    }
  }

  @Test func `C1: an operation with an empty list of observers is not observed`() async {
    let operation = SimpleOperation { 1 }.observed()
    #expect(await operation.run().result == 1)
    #expect(await operation.start().outcome.result == 1)
    let recorder = RecordingObserver()
    let observed = operation.observed(by: recorder).observed()
    #expect(await ParallelOperation([observed]).run().result == [1])
    #expect(recorder.events.filter(\.isCreation).count == 1)
  }
}
