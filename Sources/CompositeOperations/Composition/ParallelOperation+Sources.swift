extension ParallelOperation {
  /// Operations that are made one by one, each when there is a place for it.
  ///
  /// ```swift
  /// let pages = ParallelOperation(width: .limited(to: 8)) { urls.lazy.map(FetchPage.init) }
  /// ```
  ///
  /// - Parameters:
  ///   - width: How many may be in flight at once.
  ///   - mode: What happens when one ends without a result.
  ///   - children: Makes the sequence of operations, once a run. An error that it throws ends the
  ///     run.
  @inlinable public init<Children: Sequence & SendableMetatype>(
    width: OperationWidth = .limited(to: 64), onFailure mode: FailureMode? = nil,
    _ children: @escaping @Sendable () throws -> Children
  ) where Children.Element: ComposableOperation, Success == [Children.Element.Success] {
    self.init(
      resultsOf: Children.Element.self, width: width, onFailure: mode,
      makeSource: { ChildSource(over: try children()) })
  }

  /// Operations that arrive one by one, taken when there is a place for them.
  ///
  /// ```swift
  /// let jobs = ParallelOperation(width: .limited(to: 8)) { queue.messages.map(HandleMessage.init) }
  /// ```
  ///
  /// - Parameters:
  ///   - width: How many may be in flight at once.
  ///   - mode: What happens when one ends without a result.
  ///   - children: Makes the sequence of operations, once a run. An error of the sequence ends the
  ///     run.
  @inlinable public init<Children: AsyncSequence & SendableMetatype>(
    width: OperationWidth = .limited(to: 64), onFailure mode: FailureMode? = nil,
    _ children: @escaping @Sendable () async throws -> Children
  ) where Children.Element: ComposableOperation, Success == [Children.Element.Success] {
    self.init(
      resultsOf: Children.Element.self, width: width, onFailure: mode,
      makeSource: { ChildSource(over: try await children()) })
  }

  /// Operations that are made one by one, whose results are used as they come.
  ///
  /// ```swift
  /// let save = ParallelOperation(width: .limited(to: 8)) {
  ///   urls.lazy.map(FetchPage.init)
  /// } consumingResults: { page in
  ///   try await store.save(page)
  /// }
  /// ```
  ///
  /// Nothing is kept of a result, so memory grows with the width alone. A child keeps its place
  /// until its result has been used; where that takes long, the next children wait.
  ///
  /// - Parameters:
  ///   - width: How many may be in flight at once.
  ///   - mode: What happens when one ends without a result.
  ///   - children: Makes the sequence of operations, once a run. An error that it throws ends the
  ///     run.
  ///   - consume: Uses a result. It is called for one at a time, in the order in which they come.
  ///     An error that it throws counts as its child's.
  @inlinable public init<Children: Sequence & SendableMetatype>(
    width: OperationWidth = .limited(to: 64), onFailure mode: FailureMode = .cancelRemaining,
    _ children: @escaping @Sendable () throws -> Children,
    consumingResults consume:
      nonisolated(nonsending) @escaping @Sendable (Children.Element.Success) async throws -> Void
  ) where Children.Element: ComposableOperation, Success == Void {
    self.init(
      consuming: Children.Element.self, width: width, onFailure: mode,
      makeSource: { ChildSource(over: try children()) }, consumer: consume)
  }

  /// Operations that arrive one by one, whose results are used as they come.
  ///
  /// Nothing is kept of a result, so memory grows with the width alone. A child keeps its place
  /// until its result has been used; where that takes long, the next children wait.
  ///
  /// - Parameters:
  ///   - width: How many may be in flight at once.
  ///   - mode: What happens when one ends without a result.
  ///   - children: Makes the sequence of operations, once a run. An error of the sequence ends the
  ///     run.
  ///   - consume: Uses a result. It is called for one at a time, in the order in which they come.
  ///     An error that it throws counts as its child's.
  @inlinable public init<Children: AsyncSequence & SendableMetatype>(
    width: OperationWidth = .limited(to: 64), onFailure mode: FailureMode = .cancelRemaining,
    _ children: @escaping @Sendable () async throws -> Children,
    consumingResults consume:
      nonisolated(nonsending) @escaping @Sendable (Children.Element.Success) async throws -> Void
  ) where Children.Element: ComposableOperation, Success == Void {
    self.init(
      consuming: Children.Element.self, width: width, onFailure: mode,
      makeSource: { ChildSource(over: try await children()) }, consumer: consume)
  }
}

// The initialisers above are compiled where they are used, so that the making of children is
// specialised; all else is the engine's.
extension ParallelOperation {
  @usableFromInline init<Child: ComposableOperation>(
    resultsOf child: Child.Type, width: OperationWidth, onFailure mode: FailureMode?,
    makeSource: nonisolated(nonsending) @escaping @Sendable () async throws -> ChildSource
  ) where Success == [Child.Success] {
    self.init(
      SourcePlan<Child.Success, Success>(
        makeSource: makeSource, width: width, giving: .results { $0 },
        childName: { "\(Child.self)" }), onFailure: mode)
  }

  @usableFromInline init<Child: ComposableOperation>(
    consuming child: Child.Type, width: OperationWidth, onFailure mode: FailureMode,
    makeSource: nonisolated(nonsending) @escaping @Sendable () async throws -> ChildSource,
    consumer:
      nonisolated(nonsending) @escaping @Sendable (Child.Success) async throws -> Void
  ) where Success == Void {
    let plan = SourcePlan<Child.Success, Success>(
      makeSource: makeSource, width: width, giving: .nothing((), consumer: consumer),
      childName: { "\(Child.self)" })
    self.init(plan, onFailure: mode)
  }

  private init<Value>(_ plan: SourcePlan<Value, Success>, onFailure mode: FailureMode?) {
    let plan = StackSafe(plan)
    self.init(onFailure: mode) { context, mode in
      try await plan.value.performHeld(in: context, onFailure: mode)
    }
  }
}
