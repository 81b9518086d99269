/// A description of asynchronous work that ends in a result, an error or a cancellation.
///
/// An operation is a value. It says what is to be done and can be run any number of times, each
/// run happening once:
///
/// ```swift
/// struct FetchRepositories: ComposableOperation {
///   let user: String
///
///   func perform(in context: OperationContext) async throws -> [Repository] {
///     try await api.repositories(of: user)
///   }
/// }
///
/// let outcome = await FetchRepositories(user: "octocat").run()
/// ```
///
/// Return a value to end in a result, throw to end in an error, throw `CancellationError` to stop
/// early without an error. A body is cancelled as its task is: `Task.isCancelled` says so, and most
/// asynchronous functions throw by themselves then. Once a run has been cancelled its outcome is
/// ``Outcome/cancelled`` whatever the body comes to.
///
/// A body runs outside the actor of whoever runs it, unless it names one: `@MainActor func perform`.
/// It may be synchronous.
///
/// Authors write ``perform(in:)`` and, where the type's name says too little, ``operationName``.
/// The other requirements are the engine's: every operation has them by default, specialised by the
/// compiler where the operation's type is known.
public protocol ComposableOperation<Success>: Sendable {
  /// What a run ends with if all goes well.
  associatedtype Success: Sendable

  /// What events, errors and pictures call the operation. The type's name by default.
  var operationName: String { get }

  /// Does the work.
  ///
  /// - Parameter context: What the body sees of the run: how to run other operations as children
  ///   of this one, the clock, the path.
  /// - Returns: The result of the run.
  /// - Throws: The error of the run. `CancellationError`, or an error that represents a
  ///   cancellation, ends it as ``Outcome/cancelled``.
  nonisolated(nonsending) func perform(in context: OperationContext) async throws -> Success

  // MARK: For the engine

  /// Performs for somebody who may have to give the value up. For the engine.
  nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Success>

  /// Performs and leaves the value in memory of the engine's. For the engine.
  nonisolated(nonsending) func perform(
    into slot: ResultSlot, in context: OperationContext
  ) async throws -> Disposal?

  /// Performs operations of this type one after another, where they lie in a list. For the engine.
  ///
  /// - Parameter next: Takes note that the operation it gave before has left its value, and how to
  ///   give that up. Gives the next operation, or nil if that was all for now.
  nonisolated(nonsending) static func performListed(
    in context: OperationContext, next: (Disposal?) -> ListedOperation?
  ) async throws

  /// Performs as a step of a sequence, which does not know the type of the value. For the engine.
  nonisolated(nonsending) func performStep(
    at index: Int, in context: OperationContext, disposal: inout Disposal?
  ) async throws -> FinishedStep

  /// The operation that this one modifies without changing what it gives, or nil. For the engine.
  var modifiedOperation: (any ComposableOperation)? { get }

  /// The name with the modifiers around it, searched through at most `reach` modifiers. For the engine.
  func modifiedName(within reach: Int) -> ModifiedName
}

extension ComposableOperation {
  public var operationName: String { "\(Self.self)" }

  @inlinable public nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Success> {
    HeldResult(try await perform(in: context))
  }

  @inlinable public nonisolated(nonsending) func perform(
    into slot: ResultSlot, in context: OperationContext
  ) async throws -> Disposal? {
    let held = try await performHeld(in: context)
    slot.initialize(to: held.value)
    return held.disposal
  }

  @inlinable public nonisolated(nonsending) static func performListed(
    in context: OperationContext, next: (Disposal?) -> ListedOperation?
  ) async throws {
    var current = next(nil)
    while let listed = current {
      let operation = unsafe listed.pointer(to: Self.self)
      current = next(try await unsafe operation.pointee.perform(into: listed.slot, in: context))
    }
  }

  @inlinable public nonisolated(nonsending) func performStep(
    at index: Int, in context: OperationContext, disposal: inout Disposal?
  ) async throws -> FinishedStep {
    let held = try await performHeld(in: context)
    disposal = held.disposal
    return FinishedStep(operation: self, result: held.value, at: index)
  }

  @inlinable public var modifiedOperation: (any ComposableOperation)? { nil }

  public func modifiedName(within reach: Int) -> ModifiedName { ModifiedName(operationName) }

  /// The name that a modifier of this operation derives its own from.
  @usableFromInline func nameForModifier(within reach: Int) -> ModifiedName {
    reach > 0 ? modifiedName(within: reach - 1) : .unknown
  }
}
