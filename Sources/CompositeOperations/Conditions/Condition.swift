/// Something that has to be so before an operation begins.
///
/// ```swift
/// extension Condition {
///   static let isOnline = Condition("is online") { await network.isReachable }
///   static let isMetered = Condition("is metered") { network.isMetered }
/// }
///
/// let issues = FetchIssues(repository: repository).requiring(.isOnline, .not(.isMetered))
/// ```
///
/// A condition answers in one of three ways: it is met, and the operation may proceed; it is not met,
/// and the operation is skipped, which ends its run as cancelled; it fails, and its error is the run's.
/// Of several conditions a failure counts before a skip, and a skip before the leave to proceed.
public struct Condition: Sendable {
  enum Kind: Sendable {
    /// Answered where it is asked, because it cannot wait.
    case immediate(@Sendable () throws -> Bool)
    case operation(any ComposableOperation<Bool>)
  }

  /// What events and reasons call the condition.
  public let name: String
  let kind: Kind

  /// A condition that is an operation: it is met if that ends in `true`.
  ///
  /// An operation that cancels itself is not met; a ``Skipped`` that it throws says why.
  public init(_ operation: some ComposableOperation<Bool>) {
    name = operation.operationName
    kind = .operation(operation)
  }

  /// A condition that need not wait for anything.
  ///
  /// - Parameters:
  ///   - name: What is to be so: "is online".
  ///   - isMet: Whether it is so. What it throws is the error of the operation.
  public init(_ name: String, _ isMet: @escaping @Sendable () throws -> Bool) {
    self.name = name
    kind = .immediate(isMet)
  }

  /// A condition that may wait.
  ///
  /// - Parameters:
  ///   - name: What is to be so: "is online".
  ///   - isMet: Whether it is so. What it throws is the error of the operation. It may run operations
  ///     through the context.
  public init(
    _ name: String,
    _ isMet: nonisolated(nonsending) @escaping @Sendable (OperationContext) async throws -> Bool
  ) {
    self.init(SimpleOperation(isMet).named(name))
  }

  /// A condition that may wait.
  ///
  /// - Parameters:
  ///   - name: What is to be so: "is online".
  ///   - isMet: Whether it is so. What it throws is the error of the operation.
  public init(
    _ name: String, _ isMet: nonisolated(nonsending) @escaping @Sendable () async throws -> Bool
  ) {
    self.init(name) { _ in try await isMet() }
  }
}

extension Condition {
  /// Met where the condition is not, however it says so, and the other way round. A failure stays one,
  /// and so does a condition that stopped early.
  public static func not(_ condition: Condition) -> Condition {
    let name = "not \(condition.name)"
    guard condition.isImmediate else {
      return Condition(NegatedCondition(condition: condition, operationName: name))
    }
    return Condition(name) { try condition.immediateVerdict?.isOppositeMet() == true }
  }

  /// Met if all conditions are, and so if there are none.
  ///
  /// They are evaluated side by side. The first failure ends the evaluation.
  public static func all(_ conditions: Condition...) -> Condition { .all(conditions) }

  /// Met if all conditions are, and so if there are none.
  ///
  /// They are evaluated side by side. The first failure ends the evaluation.
  public static func all(_ conditions: [Condition]) -> Condition {
    Condition(ConditionConjunction(conditions: conditions))
  }

  /// Met if one of the conditions is.
  ///
  /// They are evaluated side by side. The first that is met ends the evaluation. Where none is, a skip
  /// counts before a failure; where all fail, and so where there are none, it fails with a
  /// ``NoConditionMetError``.
  public static func any(_ conditions: Condition...) -> Condition { .any(conditions) }

  /// Met if one of the conditions is.
  ///
  /// They are evaluated side by side. The first that is met ends the evaluation. Where none is, a skip
  /// counts before a failure; where all fail, and so where there are none, it fails with a
  /// ``NoConditionMetError``.
  public static func any(_ conditions: [Condition]) -> Condition {
    Condition(ConditionDisjunction(conditions: conditions))
  }

  /// Met if somebody says yes.
  ///
  /// ```swift
  /// let delete = Delete(paths)
  ///   .requiring(.confirmed("Delete \(paths.count) files?") { await ask($0) })
  /// ```
  ///
  /// - Parameters:
  ///   - question: What is asked.
  ///   - ask: Asks, and says whether the answer was yes.
  public static func confirmed(
    _ question: String,
    by ask: nonisolated(nonsending) @escaping @Sendable (String) async throws -> Bool
  ) -> Condition {
    Condition("confirmed: \(question)") { try await ask(question) }
  }
}
