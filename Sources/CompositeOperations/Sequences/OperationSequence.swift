/// A type that decides the next step of a sequential composite from how the previous step ended.
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
/// A sequence is a value, and every run begins with a fresh copy of it, so its state belongs to one
/// run. Avoid classes: all runs would share the state of the same instance.
public protocol OperationSequence<Output>: Sendable {
  /// The result type of the composite. ``FinishedSteps`` by default.
  associatedtype Output: Sendable = FinishedSteps

  /// Returns the next step, of any type, or nil to end the composite.
  ///
  /// If the previous step has failed, `nil` ends the composite in an error. Return another step to
  /// recover from the error. This method is never called while a step runs. After it has returned
  /// `nil` or thrown, or after a cancellation of the composite, it is not called again.
  ///
  /// - Parameter previous: The step that has just ended; nil before the first one.
  /// - Returns: The next step, or nil to end the composite.
  /// - Throws: Any error. The composite then ends in a ``SequentialOperationError`` with this cause.
  ///   An error that represents a cancellation, such as `CancellationError`, ends it as cancelled.
  nonisolated(nonsending) mutating func nextOperation(
    after previous: FinishedStep?
  ) async throws -> (any ComposableOperation)?

  /// Returns the result of the composite.
  ///
  /// Called when ``nextOperation(after:)`` has returned `nil`, if the last step ended in a result
  /// or there was no step.
  ///
  /// - Parameter steps: The finished steps, as many as ``history`` keeps.
  /// - Returns: The result of the composite.
  /// - Throws: An error that ends the composite in a ``SequentialOperationError``.
  func output(of steps: FinishedSteps) throws -> Output

  /// How many finished steps are kept. ``StepHistory/all`` by default.
  var history: StepHistory { get }

  /// The number of steps, for the progress of the composite. Nil, the default, if it is not known
  /// in advance.
  var expectedStepCount: Int? { get }

  // MARK: For the engine

  /// Runs a copy of the sequence, specialized where its type is known. For the engine.
  @_documentation(visibility: internal)
  nonisolated(nonsending) func performSteps(
    in context: OperationContext
  ) async throws -> HeldResult<Output>
}

extension OperationSequence {
  public var history: StepHistory { .all }
  public var expectedStepCount: Int? { nil }

  @_documentation(visibility: internal)
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
