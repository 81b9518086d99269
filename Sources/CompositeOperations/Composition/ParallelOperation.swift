/// Runs operations side by side and gives their results in the order of the operations.
///
/// ```swift
/// let issues = ParallelOperation(repositories.map { FetchIssues(repository: $0) })
/// let (profile, news) = try await ParallelOperation(FetchProfile(user), FetchNews()).run().get()
/// ```
///
/// As many children run at once as the machine has processors, and any number of them may wait;
/// a ``OperationWidth`` says otherwise. The first child that fails cancels the others; the
/// ``FailureMode/runAll`` mode lets them all run. Either way the composite ends when every child
/// that began has ended, and an error shows how each of them did: ``ParallelOperationError``.
///
/// | the composite is | when |
/// |---|---|
/// | cancelled | it was cancelled from outside, whatever its children came to |
/// | an error | a child ended in an error |
/// | cancelled | a child cancelled itself |
/// | a result | every child ended in a result |
public struct ParallelOperation<Success: Sendable>: ComposableOperation {
  /// Runs the children.
  ///
  /// Throws a ``ParallelOperationError`` if that does not come to a `Success`.
  @usableFromInline typealias Performing =
    nonisolated(nonsending) @Sendable (OperationContext, FailureMode) async throws
    -> HeldResult<Success>

  /// The children, where they are known before it runs.
  @usableFromInline typealias Listing = @Sendable () -> [any ComposableOperation]

  let performing: Performing
  /// The failure mode that was given, if one was.
  let mode: FailureMode?
  let listing: Listing?

  @usableFromInline init(
    listing: Listing? = nil, onFailure mode: FailureMode?, performing: @escaping Performing
  ) {
    self.performing = performing
    self.mode = mode
    self.listing = listing
  }

  public var operationName: String { "ParallelOperation" }

  public nonisolated(nonsending) func perform(
    in context: OperationContext
  ) async throws -> Success {
    try await performHeld(in: context).value
  }

  @concurrent public func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Success> {
    // The question keeps the hop off the caller's actor, which a mere forward would lose.
    if Task.isCancelled { throw CancellationError() }
    return try await performing(context, mode ?? .cancelRemaining)
  }
}

extension ParallelOperation: OutlineBearing {
  var outline: OperationOutline { listing.map { .parallel($0()) } ?? .start([]) }
}
