internal import Synchronization

/// A requirement that must be met before an operation begins.
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
/// The evaluation of a condition has one of three verdicts:
///
/// - Met: the operation may begin.
/// - Not met: the operation is skipped, and its run ends as cancelled.
/// - Failed: the run ends in the error of the condition.
///
/// A condition that throws an error fails, unless the error *represents a cancellation*: a
/// `CancellationError`, a ``Skipped``, or another error whose
/// ``CancellationRepresenting/representsCancellation`` is true. The condition is then not met.
///
/// If an operation has several conditions, the precedence is: failed, then not met, then met.
///
/// A run evaluates a condition once, even if the condition occurs several times: in one `requiring`
/// modifier, in adjacent `requiring` modifiers, or in combinations such as
/// ``all(_:onFailure:)-(Condition...,_)``. Copies of a condition are the same condition. Two calls
/// of an initializer make two conditions, so store a condition in a `let` instead of a computed
/// property.
public struct Condition: Sendable {
  enum Kind: Sendable {
    /// Evaluated without a task, because it does not suspend.
    case immediate(@Sendable () throws -> Bool)
    case operation(any ComposableOperation<Bool>)
    case not
    case all(FailureMode)
    case any
  }

  /// The name in events, in errors and in the reasons of skipped operations.
  public let name: String
  let kind: Kind
  /// The operands; empty if the condition is not composed of others.
  let operands: [Condition]
  /// Equal for copies of the same condition.
  let id = ConditionID()

  private init(_ name: String, _ kind: Kind, of operands: [Condition] = []) {
    self.name = name
    self.kind = kind
    self.operands = operands
  }

  /// Creates a condition that is met if an operation returns `true`.
  ///
  /// The condition is not met if the operation returns `false` or throws an error that represents a
  /// cancellation, such as a ``Skipped`` with the reason. Any other error is the failure of the
  /// condition.
  ///
  /// - Parameter operation: The operation that evaluates the condition.
  public init(_ operation: some ComposableOperation<Bool>) {
    // `AnyOperation` frees nested conditions on a bounded stack.
    self.init(operation.operationName, .operation(AnyOperation(operation)))
  }

  /// Creates a condition from a closure that does not suspend.
  ///
  /// No task is created to evaluate it.
  ///
  /// - Parameters:
  ///   - name: The name, such as "is online".
  ///   - isMet: Returns whether the condition is met. If it throws an error that represents a
  ///     cancellation, the condition is not met. Any other error is the failure of the condition.
  public init(_ name: String, _ isMet: @escaping @Sendable () throws -> Bool) {
    self.init(name, .immediate(isMet))
  }

  /// Creates a condition from a closure that may suspend and may run operations as children.
  ///
  /// - Parameters:
  ///   - name: The name, such as "is online".
  ///   - isMet: Returns whether the condition is met. If it throws an error that represents a
  ///     cancellation, the condition is not met. Any other error is the failure of the condition.
  public init(
    _ name: String,
    _ isMet: nonisolated(nonsending) @escaping @Sendable (OperationContext) async throws -> Bool
  ) {
    self.init(SimpleOperation.withContext(isMet).named(name))
  }

  /// Creates a condition from a closure that may suspend.
  ///
  /// - Parameters:
  ///   - name: The name, such as "is online".
  ///   - isMet: Returns whether the condition is met. If it throws an error that represents a
  ///     cancellation, the condition is not met. Any other error is the failure of the condition.
  public init(
    _ name: String, _ isMet: nonisolated(nonsending) @escaping @Sendable () async throws -> Bool
  ) {
    self.init(name) { _ in try await isMet() }
  }
}

extension Condition {
  /// Returns the negation of a condition.
  ///
  /// | the condition | the negation |
  /// |---|---|
  /// | is met | is not met |
  /// | is not met: it returned `false` or threw a ``Skipped`` | is met |
  /// | is not met: it threw another error that represents a cancellation, such as `CancellationError` | is not met, because the answer is unknown |
  /// | failed | fails with the same error |
  ///
  /// - Parameter condition: The condition to negate.
  public static func not(_ condition: Condition) -> Condition {
    Condition("not \(condition.name)", .not, of: [condition])
  }

  /// Returns a condition that is met if all of its operands are met.
  ///
  /// The operands are evaluated concurrently. Without operands the condition is met.
  ///
  /// ```swift
  /// let isReady = Condition.all(
  ///   Condition("is online") { await network.isReachable },
  ///   .confirmed("Save \(issues.count) issues?") { await ask($0) },
  ///   onFailure: .runAll)
  /// ```
  ///
  /// - Parameters:
  ///   - conditions: The operands.
  ///   - mode: The failure mode. By default the first failure ends the evaluation, and its error is
  ///     the error of this condition. With ``FailureMode/runAll`` all operands are evaluated. If
  ///     some of them fail, this condition fails with a ``FailedConditionsError`` with all their
  ///     errors.
  public static func all(
    _ conditions: Condition..., onFailure mode: FailureMode = .cancelRemaining
  ) -> Condition { .all(conditions, onFailure: mode) }

  /// Returns a condition that is met if all of its operands are met.
  ///
  /// The operands are evaluated concurrently. Without operands the condition is met.
  ///
  /// - Parameters:
  ///   - conditions: The operands.
  ///   - mode: The failure mode. By default the first failure ends the evaluation, and its error is
  ///     the error of this condition. With ``FailureMode/runAll`` all operands are evaluated. If
  ///     some of them fail, this condition fails with a ``FailedConditionsError`` with all their
  ///     errors.
  public static func all(
    _ conditions: [Condition], onFailure mode: FailureMode = .cancelRemaining
  ) -> Condition {
    Condition("all of \(names(of: conditions))", .all(mode), of: conditions)
  }

  /// Returns a condition that is met if one of its operands is met.
  ///
  /// The operands are evaluated concurrently. As soon as one is met, the others are cancelled,
  /// and the evaluation ends without waiting for them. Precedence: met, then not met, then failed.
  /// So this condition fails, with a ``NoConditionMetError``, only if all operands fail or if there
  /// are none.
  ///
  /// - Parameter conditions: The operands.
  public static func any(_ conditions: Condition...) -> Condition { .any(conditions) }

  /// Returns a condition that is met if one of its operands is met.
  ///
  /// The operands are evaluated concurrently. As soon as one is met, the others are cancelled,
  /// and the evaluation ends without waiting for them. Precedence: met, then not met, then failed.
  /// So this condition fails, with a ``NoConditionMetError``, only if all operands fail or if there
  /// are none.
  ///
  /// - Parameter conditions: The operands.
  public static func any(_ conditions: [Condition]) -> Condition {
    Condition("any of \(names(of: conditions))", .any, of: conditions)
  }

  private static func names(of conditions: [Condition]) -> String {
    if conditions.isEmpty { return "no conditions" }
    return conditions.map(\.name).joined(separator: ", ")
  }

  /// Returns a condition that is met if a question is answered with yes.
  ///
  /// ```swift
  /// let delete = Delete(paths)
  ///   .requiring(.confirmed("Delete \(paths.count) files?") { await ask($0) })
  /// ```
  ///
  /// - Parameters:
  ///   - question: The question, which is also part of the name of the condition.
  ///   - ask: Asks the question and returns whether the answer was yes. If it throws an error that
  ///     represents a cancellation, the condition is not met. Any other error is the failure of the
  ///     condition.
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
