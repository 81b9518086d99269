import CompositeOperations
import DurableOperations
import Testing

@Suite(.enabled(if: TestServer.isAbsent), .timeLimit(.minutes(10))) struct CurrentStepTests {
  /// A step that ends when the store knows that it is in progress, and one that reads the step in progress.
  private struct Watching: DurableSequence {
    @TaskLocal static var store: RunStore?

    func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
      switch previous?.index {
      case nil:
        SimpleOperation {
          while try await Self.currentStep?.name != "first" {
            try await Task.sleep(for: .milliseconds(10))
          }
        }.named("first")
      case 0: SimpleOperation { try await Self.currentStep?.name ?? "none" }.named("second")
      default: nil
      }
    }

    func output(of steps: FinishedSteps) -> String {
      steps.last?.result(as: String.self) ?? "no result"
    }

    private static var currentStep: CurrentStep? {
      get async throws { try await store?.run("r")?.currentStep }
    }
  }

  @Test func `A13: a step that has ended is not the one in progress`() async throws {
    let store = RunStore.memory()
    try await Watching.$store.withValue(store) {
      let found = try await DurableOperation(Watching(), named: "r", in: store).run().get()
      #expect(found != "first")
    }
  }
}
