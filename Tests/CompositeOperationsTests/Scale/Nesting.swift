import CompositeOperations
import CompositeOperationsTestKit

/// The compositions that contain an operation and whose type does not depend on its type.
enum Nesting: String, CaseIterable, Sendable {
  // Composites, which contain the operation directly.
  case parallel, serial, mixed, pack, collecting, lazily, growing, race, graph, fallbackList
  // Sequences.
  case linear, closureSequence
  // Modifiers and closures, which contain it in an `AnyOperation`.
  case map, then, body, erased, named, retrying, hedged, repeating, recovering
  case fallingBack, finally
  case timingOut, abandoning, prioritized, exclusive, requiring, discarding, onEnd

  func around(_ inner: any ComposableOperation<Int>) -> any ComposableOperation<Int> {
    switch self {
    case .parallel: return ParallelOperation([inner]).map { $0[0] }
    case .serial: return ParallelOperation([inner], width: .serial).map { $0[0] }
    case .mixed:
      return ParallelOperation([inner, SimpleOperation { 0 }], onFailure: .runAll).map { $0[0] }
    case .race: return RaceOperation([inner])
    case .fallbackList:
      return SimpleOperation { throw TestError("failed") }.fallingBack(toEachOf: [inner])
    case .linear:
      return SequentialOperation(.linear([inner])).map { $0.last?.result(as: Int.self) ?? 0 }
    case .closureSequence:
      return SequentialOperation(ClosureSequence { $0 == nil ? inner : nil })
        .map { $0.last?.result(as: Int.self) ?? 0 }
    default: return wrap(AnyOperation(inner))
    }
  }

  /// Takes an erased operation, because nested generic types would be as deep as the operations.
  private func wrap(_ inner: AnyOperation<Int>) -> any ComposableOperation<Int> {
    switch self {
    case .parallel, .serial, .mixed, .race, .fallbackList, .linear, .closureSequence, .erased: inner
    case .pack: ParallelOperation(inner, SimpleOperation { "" }).map { $0.0 }
    case .collecting: ParallelOperation([inner]).collectingOutcomes().map { try $0[0].get() }
    case .lazily: ParallelOperation { [inner] }.map { $0[0] }
    case .growing: ParallelOperation(growing: [inner]).map { $0[0] }
    case .graph:
      OperationGraph { graph in
        let node = graph.add(inner)
        return graph.add(needing: node) { value in SimpleOperation { value } }
      }
    case .map: inner.map { $0 }
    case .then: SimpleOperation { 0 }.then { _ in inner }
    case .body: SimpleOperation.withContext { context in try await context.run(inner) }
    case .named: inner.named("n")
    case .retrying: inner.retrying(attempts: 1)
    case .hedged: inner.hedged(after: .seconds(1_000_000), attempts: 1)
    case .repeating: inner.repeating(times: 1)
    case .recovering: inner.recovering { error in throw error }
    case .fallingBack: SimpleOperation { throw TestError("failed") }.fallingBack(to: inner)
    case .finally: inner.finally { _ in }
    case .timingOut: inner.timingOut(after: .seconds(1_000_000))
    case .abandoning: inner.timingOut(after: .seconds(1_000_000), .abandoning)
    case .prioritized: inner.prioritized(at: .high)
    case .exclusive: inner.exclusive(in: Permits(1, name: "permits"))
    case .requiring: inner.requiring(Condition("holds") { true })
    case .discarding: inner.discarding { _ in }
    case .onEnd: inner.onEnd { _ in }
    }
  }
}
