extension ParallelOperation {
  /// Creates a composite whose children are created one by one, each when there is a place for it.
  ///
  /// ```swift
  /// let pages = ParallelOperation(width: .limited(to: 8)) { urls.lazy.map(FetchPage.init) }
  /// ```
  ///
  /// - Parameters:
  ///   - width: The maximum number of children in flight.
  ///   - mode: The reaction to a child that ends without a result.
  ///   - children: Creates the sequence of operations, once per run. An error that it throws ends
  ///     the run.
  // Disfavored, as the next one: the compiler would otherwise also try to take a list for the closure, in
  // lists inside lists with all combinations.
  @_disfavoredOverload
  @inlinable public init<Children: Sequence & SendableMetatype>(
    width: OperationWidth = .limited(to: 64), onFailure mode: FailureMode? = nil,
    _ children: @escaping @Sendable () throws -> Children
  ) where Children.Element: ComposableOperation, Success == [Children.Element.Success] {
    self.init(
      resultsOf: Children.Element.self, width: width, onFailure: mode,
      makeSource: { ChildSource(over: try children()) })
  }

  /// Creates a composite whose children arrive one by one, each taken when there is a place for it.
  ///
  /// ```swift
  /// let jobs = ParallelOperation(width: .limited(to: 8)) { queue.messages.map(HandleMessage.init) }
  /// ```
  ///
  /// - Parameters:
  ///   - width: The maximum number of children in flight.
  ///   - mode: The reaction to a child that ends without a result.
  ///   - children: Creates the sequence of operations, once per run. An error of the sequence ends
  ///     the run.
  @_disfavoredOverload
  @inlinable public init<Children: AsyncSequence & SendableMetatype>(
    width: OperationWidth = .limited(to: 64), onFailure mode: FailureMode? = nil,
    _ children: @escaping @Sendable () async throws -> Children
  ) where Children.Element: ComposableOperation, Success == [Children.Element.Success] {
    self.init(
      resultsOf: Children.Element.self, width: width, onFailure: mode,
      makeSource: { ChildSource(over: try await children()) })
  }

  /// Creates a composite whose children are created one by one and whose results are consumed as
  /// they arrive.
  ///
  /// ```swift
  /// let save = ParallelOperation(width: .limited(to: 8)) {
  ///   urls.lazy.map(FetchPage.init)
  /// } consumingResults: { page in
  ///   try await store.save(page)
  /// }
  /// ```
  ///
  /// Results are not stored, so memory grows with the width only. A child occupies its place until
  /// its result has been consumed, which applies back pressure: a slow consumer delays further
  /// children.
  ///
  /// - Parameters:
  ///   - width: The maximum number of children in flight.
  ///   - mode: The reaction to a child that ends without a result.
  ///   - children: Creates the sequence of operations, once per run. An error that it throws ends
  ///     the run.
  ///   - consume: Consumes a result. Called for one result at a time, in the order in which they
  ///     arrive. An error that it throws counts as the error of the child.
  @inlinable public init<Children: Sequence & SendableMetatype>(
    width: OperationWidth = .limited(to: 64), onFailure mode: FailureMode = .cancelRemaining,
    _ children: @escaping @Sendable () throws -> Children,
    consumingResults consume:
      nonisolated(nonsending) @escaping @Sendable (Children.Element.Success) async throws -> Void
  ) where Children.Element: ComposableOperation, Success == Void {
    self.init(
      consuming: Children.Element.self, width: width, onFailure: mode,
      makeSource: { ChildSource(over: try children()) },
      consumer: { try await consume($0.move(as: Children.Element.Success.self)) })
  }

  /// Creates a composite whose children arrive one by one and whose results are consumed as they
  /// arrive.
  ///
  /// Results are not stored, so memory grows with the width only. A child occupies its place until
  /// its result has been consumed, which applies back pressure: a slow consumer delays further
  /// children.
  ///
  /// - Parameters:
  ///   - width: The maximum number of children in flight.
  ///   - mode: The reaction to a child that ends without a result.
  ///   - children: Creates the sequence of operations, once per run. An error of the sequence ends
  ///     the run.
  ///   - consume: Consumes a result. Called for one result at a time, in the order in which they
  ///     arrive. An error that it throws counts as the error of the child.
  @inlinable public init<Children: AsyncSequence & SendableMetatype>(
    width: OperationWidth = .limited(to: 64), onFailure mode: FailureMode = .cancelRemaining,
    _ children: @escaping @Sendable () async throws -> Children,
    consumingResults consume:
      nonisolated(nonsending) @escaping @Sendable (Children.Element.Success) async throws -> Void
  ) where Children.Element: ComposableOperation, Success == Void {
    self.init(
      consuming: Children.Element.self, width: width, onFailure: mode,
      makeSource: { ChildSource(over: try await children()) },
      consumer: { try await consume($0.move(as: Children.Element.Success.self)) })
  }
}

// The initializers above are inlinable, so that the creation of children is specialized. The rest
// belongs to the engine.
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
    consumer: nonisolated(nonsending) @escaping @Sendable (ResultSlot) async throws -> Void
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
