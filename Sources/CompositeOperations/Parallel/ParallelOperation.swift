/// An operation that runs other operations in parallel and returns their results in order.
///
/// ```swift
/// let issues = ParallelOperation(repositories.map { FetchIssues(repository: $0) })
/// let (profile, news) = try await ParallelOperation(FetchProfile(user), FetchNews()).run().get()
/// ```
///
/// By default, the number of children that execute code at the same time is limited to the number
/// of processors. Any number of children may be suspended. If children are created on demand or
/// added later, the default limit is 64 children, suspended or not. An ``OperationWidth`` sets
/// another limit.
///
/// The first child that ends without a result cancels the others; with ``FailureMode/runAll``, all
/// of them run. In both modes, the composite ends when every child that began has ended. If the
/// composite fails, its error is a ``ParallelOperationError``, which shows how each child ended.
///
/// The first row that applies determines the outcome:
///
/// | outcome | condition |
/// |---|---|
/// | cancelled | the composite was cancelled from outside, however its children ended |
/// | error | a child ended in an error |
/// | cancelled | a child cancelled itself |
/// | result | every child ended in a result |
public struct ParallelOperation<Success: Sendable>: ComposableOperation {
  /// Runs the children.
  ///
  /// Throws a ``ParallelOperationError`` if the composite has no result.
  @usableFromInline typealias Performing =
    nonisolated(nonsending) @Sendable (OperationContext, FailureMode) async throws
    -> HeldResult<Success>

  /// Returns the children of a composite that knows them before it runs.
  @usableFromInline typealias Listing = @Sendable () -> [any ComposableOperation]

  let performing: Performing
  /// The failure mode that was passed to the initializer; nil if none was.
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

  @_documentation(visibility: internal)
  @concurrent public func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Success> {
    // This check preserves the hop off the caller's actor, which a plain forward would lose.
    if Task.isCancelled { throw CancellationError() }
    return try await performing(context, mode ?? .cancelRemaining)
  }
}

extension ParallelOperation: OutlineBearing {
  package var outline: OperationOutline { listing.map { .parallel($0()) } ?? .start([]) }
}

extension ParallelOperation {
  /// Returns a composite that runs the same children and whose result is their outcomes.
  ///
  /// The outcomes are in the order of the children and include failures and cancellations. The
  /// composite ends without a result only if it is cancelled from outside, or if the sequence that
  /// creates its children throws.
  ///
  /// ```swift
  /// let fetches = ParallelOperation(urls.map(FetchPage.init)).collectingOutcomes()
  /// for outcome in try await fetches.run().get() { print(outcome) }
  /// ```
  ///
  /// Every child runs, unless ``FailureMode/cancelRemaining`` was passed explicitly to the
  /// initializer of the original composite. In that case, the first failure cancels the other
  /// children, and their outcomes are cancellations.
  public func collectingOutcomes<Value>() -> ParallelOperation<[Outcome<Value>]>
  where Success == [Value] {
    let performing = performing
    return ParallelOperation<[Outcome<Value>]>(
      listing: listing, onFailure: mode ?? .runAll
    ) { context, mode in
      do {
        let held = try await performing(context, mode)
        return HeldResult(held.value.map(Outcome.result), cleanup: held.cleanup)
      } catch let error as ParallelOperationError where error.sourceError == nil {
        guard let outcomes = error.outcomes(of: Value.self) else { throw error }
        return HeldResult(outcomes) { error.discardCarriedValues() }
      }
    }
  }
}
