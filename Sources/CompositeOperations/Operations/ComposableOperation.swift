/// A description of asynchronous work that ends in a result, an error or a cancellation.
///
/// An operation is a value that can be run any number of times. Every run performs the work once:
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
/// The body of an operation is its ``perform(in:)``. Return a value to end in a result, throw an
/// error to end in that error, and throw `CancellationError` to stop early without an error.
/// Cancelling a run cancels the task of its body: `Task.isCancelled` is true, and most asynchronous
/// functions throw. The outcome of a cancelled run is ``Outcome/cancelled``, whatever its body
/// returns or throws.
///
/// A body does not run on the actor of its caller. It may declare its own actor,
/// `@MainActor func perform`, and may be synchronous.
///
/// A conforming type implements ``perform(in:)`` and, if the name of the type is not descriptive
/// enough, ``operationName``. Do not implement the other requirements. They are for the package, and
/// have default implementations.
public protocol ComposableOperation<Success>: Sendable {
  /// The type of the result.
  associatedtype Success: Sendable

  /// The name of the operation in events, errors and traces. The name of its type by default.
  var operationName: String { get }

  /// Does the work.
  ///
  /// - Parameter context: The context of the run. With it, the operation runs other operations as
  ///   children. It also has the clock, the random numbers and the path of the run.
  /// - Returns: The result of the run.
  /// - Throws: The error of the run. `CancellationError`, or an error that represents a
  ///   cancellation, ends it as ``Outcome/cancelled``.
  nonisolated(nonsending) func perform(in context: OperationContext) async throws -> Success

  // MARK: For the engine

  /// Performs the operation for a caller that may have to discard the value. For the engine.
  @_documentation(visibility: internal)
  nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Success>

  /// Performs the operation and stores its value in memory of the engine. For the engine.
  ///
  /// - Returns: The closure that discards the value; nil if the value needs no cleanup.
  @_documentation(visibility: internal)
  nonisolated(nonsending) func perform(
    into slot: ResultSlot, in context: OperationContext
  ) async throws -> Cleanup?

  /// Performs operations of this type one after another, without copying them out of their list.
  /// For the engine.
  ///
  /// - Parameter next: Notes that the previous operation has stored its value, keeps the closure
  ///   that discards this value, and returns the next operation; nil if there is none for now.
  @_documentation(visibility: internal)
  nonisolated(nonsending) static func performListed(
    in context: OperationContext, next: (Cleanup?) -> ListedOperation?
  ) async throws

  /// Performs the operation as a step of a sequence, which does not know the type of the value. For
  /// the engine.
  @_documentation(visibility: internal)
  nonisolated(nonsending) func performStep(
    at index: Int, in context: OperationContext, cleanup: inout Cleanup?
  ) async throws -> FinishedStep

  /// The operation that this one modifies without changing its result type; nil if this is no
  /// modifier. For the engine.
  @_documentation(visibility: internal)
  var modifiedOperation: (any ComposableOperation)? { get }

  /// Returns the name including modifiers. Looks at no more than `reach` modifiers. For the engine.
  @_documentation(visibility: internal)
  func modifiedName(within reach: Int) -> ModifiedName
}

extension ComposableOperation {
  public var operationName: String { TypeNames.name(of: Self.self) }

  @_documentation(visibility: internal)
  @inlinable public nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Success> {
    HeldResult(try await perform(in: context))
  }

  @_documentation(visibility: internal)
  @inlinable public nonisolated(nonsending) func perform(
    into slot: ResultSlot, in context: OperationContext
  ) async throws -> Cleanup? {
    let held = try await performHeld(in: context)
    slot.initialize(to: held.value)
    return held.cleanup
  }

  @_documentation(visibility: internal)
  @inlinable public nonisolated(nonsending) static func performListed(
    in context: OperationContext, next: (Cleanup?) -> ListedOperation?
  ) async throws {
    var current = next(nil)
    while let listed = current {
      let operation = unsafe listed.pointer(to: Self.self)
      current = next(try await unsafe operation.pointee.perform(into: listed.slot, in: context))
    }
  }

  @_documentation(visibility: internal)
  @inlinable public nonisolated(nonsending) func performStep(
    at index: Int, in context: OperationContext, cleanup: inout Cleanup?
  ) async throws -> FinishedStep {
    let held = try await performHeld(in: context)
    cleanup = held.cleanup
    return FinishedStep(operation: self, result: held.value, at: index)
  }

  @_documentation(visibility: internal)
  @inlinable public var modifiedOperation: (any ComposableOperation)? { nil }

  @_documentation(visibility: internal)
  public func modifiedName(within reach: Int) -> ModifiedName { ModifiedName(operationName) }

  /// Returns the name from which a modifier of this operation derives its own.
  @usableFromInline package func nameForModifier(within reach: Int) -> ModifiedName {
    reach > 0 ? modifiedName(within: reach - 1) : .unknown
  }
}
