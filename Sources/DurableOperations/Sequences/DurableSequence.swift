public import CompositeOperations

/// A sequence that survives the end of the process.
///
/// Because a sequence is a value, it can be stored. A journal stores it with the outcome of every
/// step, and the next process continues after the last finished step:
///
/// ```swift
/// import DurableOperations
///
/// struct UserIssues: DurableSequence {
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
/// let store = RunStore.sqlite("flows.sqlite")
/// let flow = DurableOperation(UserIssues(user: "octocat"), named: "octocat", in: store)
/// let steps = try await flow.run().get()
/// ```
///
/// The properties of the sequence are its state. They are stored with every step that changes them.
/// The results of steps must be `Codable` or `Void`.
///
/// An interrupted step runs again. Before that, the sequence is asked again, with the same state
/// and the same previous step. See <doc:FlowsThatSurviveACrash>.
public protocol DurableSequence: OperationSequence, Codable {
  /// The name of the flow in the journal. By default the name of the type, without its module.
  ///
  /// Flows in one store need different names, and a name must not change while runs are open.
  /// Give an incompatible successor another name, and keep the old type until its runs have ended.
  static var flowName: String { get }
}

extension DurableSequence {
  public static var flowName: String { "\(Self.self)" }
}
