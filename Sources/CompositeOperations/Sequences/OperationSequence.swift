/// Decides what a sequential composite does next, from how the previous step ended.
///
/// ```swift
/// struct UserIssues: OperationSequence {
///   let user: String
///
///   mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
///     guard let previous else { return FetchRepositories(user: user) }
///     if let repositories = previous.result(of: FetchRepositories.self) {
///       return ParallelOperation(repositories.map { FetchIssues(repository: $0) })
///     }
///     return nil
///   }
/// }
///
/// let outcome = await SequentialOperation(UserIssues(user: "octocat")).run()
/// ```
///
/// A sequence is a value, and every run begins with a fresh copy of it: state that it keeps belongs
/// to one run. A class that conforms is shared by all runs; it has to keep them apart by itself.
public protocol OperationSequence<Output>: Sendable {
  /// What the composite ends with. The finished steps by default.
  associatedtype Output: Sendable = FinishedSteps

  /// The next step, of any type, or nil for the end.
  ///
  /// After a step that failed, `nil` ends the composite in an error; another step is the recovery
  /// from it. The last step decides. Never asked while a step runs, nor again after `nil`, a
  /// cancellation or an error.
  ///
  /// - Parameter previous: The step that has just ended; nil before the first one.
  /// - Throws: What ends the composite: in a ``SequentialOperationError`` with this cause, or, if it
  ///   is a `CancellationError`, in a cancellation.
  nonisolated(nonsending) mutating func nextOperation(
    after previous: FinishedStep?
  ) async throws -> (any ComposableOperation)?

  /// What the composite ends with, when the last step has ended in a result or there was none.
  ///
  /// - Parameter steps: The finished steps, as many as ``history`` says.
  /// - Throws: What ends the composite in an error after all.
  func output(of steps: FinishedSteps) throws -> Output

  /// How many finished steps are kept. All of them by default.
  var history: StepHistory { get }

  /// How many steps there are going to be, for the progress of the composite. Nil, by default, where that is
  /// decided on the way.
  var expectedStepCount: Int? { get }

  // MARK: For the engine

  /// Runs a copy of the sequence, specialised where its type is known. For the engine.
  nonisolated(nonsending) func performSteps(
    in context: OperationContext
  ) async throws -> HeldResult<Output>
}

extension OperationSequence {
  public var history: StepHistory { .all }
  public var expectedStepCount: Int? { nil }

  @inlinable public nonisolated(nonsending) func performSteps(
    in context: OperationContext
  ) async throws -> HeldResult<Output> {
    var run = SequentialRun(self, in: context)
    return try await unsafe run.perform(as: .own)
  }
}

extension OperationSequence where Output == FinishedSteps {
  public func output(of steps: FinishedSteps) -> FinishedSteps { steps.boxed }
}
