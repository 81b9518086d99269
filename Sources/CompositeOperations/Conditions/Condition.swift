internal import Synchronization

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
///
/// Each run of an operation evaluates a condition once, even if the condition is listed twice, in several
/// `requiring` modifiers next to one another, or within ``all(_:onFailure:)-(Condition...)``,
/// ``any(_:)-(Condition...)`` and ``not(_:)``. Copies of a condition are the same condition. Two
/// conditions that are made by two calls of an initializer are not, so store a condition in a `let`
/// instead of a computed property.
public struct Condition: Sendable {
  enum Kind: Sendable {
    /// Evaluated without a task of its own, because it cannot wait.
    case immediate(@Sendable () throws -> Bool)
    case operation(any ComposableOperation<Bool>)
    case not
    case all(FailureMode)
    case any
  }

  /// What events and reasons call the condition.
  public let name: String
  let kind: Kind
  /// The operands; empty if the condition is not made of others.
  let operands: [Condition]
  /// Identifies the condition.
  let id = ConditionID()

  private init(_ name: String, _ kind: Kind, of operands: [Condition] = []) {
    self.name = name
    self.kind = kind
    self.operands = operands
  }

  /// A condition that is an operation: it is met if that ends in `true`.
  ///
  /// An operation that cancels itself is not met; a ``Skipped`` that it throws says why.
  public init(_ operation: some ComposableOperation<Bool>) {
    // `AnyOperation` frees nested conditions on a bounded stack.
    self.init(operation.operationName, .operation(AnyOperation(operation)))
  }

  /// A condition that need not wait for anything.
  ///
  /// - Parameters:
  ///   - name: What is to be so: "is online".
  ///   - isMet: Whether it is so. What it throws is the error of the operation.
  public init(_ name: String, _ isMet: @escaping @Sendable () throws -> Bool) {
    self.init(name, .immediate(isMet))
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
    self.init(SimpleOperation.withContext(isMet).named(name))
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
    Condition("not \(condition.name)", .not, of: [condition])
  }

  /// Met if all conditions are, and so if there are none.
  ///
  /// They are evaluated concurrently.
  ///
  /// ```swift
  /// let isReady = Condition.all(
  ///   Condition("is online") { await network.isReachable },
  ///   .confirmed("Save \(issues.count) issues?") { await ask($0) },
  ///   onFailure: .runAll)
  /// ```
  ///
  /// - Parameters:
  ///   - conditions: The conditions.
  ///   - mode: The failure mode. By default the first failure ends the evaluation, and its error is
  ///     the error of this condition. With ``FailureMode/runAll`` all conditions are evaluated, and
  ///     if some fail, this one fails with a ``FailedConditionsError`` that holds all their errors.
  public static func all(
    _ conditions: Condition..., onFailure mode: FailureMode = .cancelRemaining
  ) -> Condition { .all(conditions, onFailure: mode) }

  /// Met if all conditions are, and so if there are none.
  ///
  /// They are evaluated concurrently.
  ///
  /// - Parameters:
  ///   - conditions: The conditions.
  ///   - mode: The failure mode. By default the first failure ends the evaluation, and its error is
  ///     the error of this condition. With ``FailureMode/runAll`` all conditions are evaluated, and
  ///     if some fail, this one fails with a ``FailedConditionsError`` that holds all their errors.
  public static func all(
    _ conditions: [Condition], onFailure mode: FailureMode = .cancelRemaining
  ) -> Condition {
    Condition("all of \(names(of: conditions))", .all(mode), of: conditions)
  }

  /// Met if one of the conditions is.
  ///
  /// They are evaluated concurrently. The first one that is met ends the evaluation, which does not
  /// wait for the others. If none is met, a skip takes precedence over a failure. If all fail, or
  /// if there are none, this condition fails with a ``NoConditionMetError``.
  public static func any(_ conditions: Condition...) -> Condition { .any(conditions) }

  /// Met if one of the conditions is.
  ///
  /// They are evaluated concurrently. The first one that is met ends the evaluation, which does not
  /// wait for the others. If none is met, a skip takes precedence over a failure. If all fail, or
  /// if there are none, this condition fails with a ``NoConditionMetError``.
  public static func any(_ conditions: [Condition]) -> Condition {
    Condition("any of \(names(of: conditions))", .any, of: conditions)
  }

  private static func names(of conditions: [Condition]) -> String {
    if conditions.isEmpty { return "no conditions" }
    return conditions.map(\.name).joined(separator: ", ")
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

/// The identity of a condition.
struct ConditionID: Hashable, Sendable {
  private static let last = Atomic(0)

  private let number = last.wrappingAdd(1, ordering: .relaxed).newValue

  init() {}

  static func == (one: ConditionID, other: ConditionID) -> Bool { one.number == other.number }
  func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
