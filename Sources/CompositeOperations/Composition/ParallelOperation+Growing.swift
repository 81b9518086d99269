extension ParallelOperation {
  /// Operations that add others while they run, by ``OperationContext/add(_:)``.
  ///
  /// ```swift
  /// struct Walk: ComposableOperation {
  ///   let folder: Folder
  ///
  ///   func perform(in context: OperationContext) async throws -> [String] {
  ///     let entries = try await folder.read()
  ///     for subfolder in entries.folders { try context.add(Walk(folder: subfolder)) }
  ///     return entries.files
  ///   }
  /// }
  ///
  /// let files = ParallelOperation(growing: [Walk(folder: root)], width: .limited(to: 8))
  /// ```
  ///
  /// The composite ends when all its children have ended and none of them has added another one. The
  /// results of those that were added follow on the others, in the order in which they were added.
  /// They are children like the others in all else. An error leaves those out that never began.
  ///
  /// - Parameters:
  ///   - children: Those that are there from the start.
  ///   - width: How many may be in flight at once.
  ///   - mode: What happens when one ends without a result.
  public init<Child: ComposableOperation>(
    growing children: [Child], width: OperationWidth = .limited(to: 64),
    onFailure mode: FailureMode? = nil
  ) where Success == [Child.Success] {
    self.init(growing: children, onFailure: mode) { source in
      SourcePlan<Child.Success, Success>(
        makeSource: { source }, width: width, giving: .results { $0 },
        childName: { "\(Child.self)" })
    }
  }

  /// Operations that add others while they run, and whose results are used as they come.
  ///
  /// Nothing is kept of a result, so memory grows with the width and with the children that wait. A
  /// child keeps its place until its result has been used.
  ///
  /// - Parameters:
  ///   - children: Those that are there from the start.
  ///   - width: How many may be in flight at once.
  ///   - mode: What happens when one ends without a result.
  ///   - consume: Uses a result. It is called for one at a time, in the order in which they come.
  ///     An error that it throws counts as its child's.
  public init<Child: ComposableOperation>(
    growing children: [Child], width: OperationWidth = .limited(to: 64),
    onFailure mode: FailureMode = .cancelRemaining,
    consumingResults consume:
      nonisolated(nonsending) @escaping @Sendable (Child.Success) async throws -> Void
  ) where Success == Void {
    self.init(growing: children, onFailure: mode) { source in
      SourcePlan<Child.Success, Success>(
        makeSource: { source }, width: width, giving: .nothing((), consumer: consume),
        childName: { "\(Child.self)" })
    }
  }

  private init<Child: ComposableOperation>(
    growing children: [Child], onFailure mode: FailureMode?,
    plan: @escaping @Sendable (ChildSource) -> SourcePlan<Child.Success, Success>
  ) {
    let children = StackSafe(children)
    self.init(onFailure: mode) { context, mode in
      let growth = Growth(children.value, giving: Child.Success.self)
      defer { growth.end() }
      return try await plan(growth.source).performHeld(
        in: context.growing(growth), onFailure: mode)
    }
  }
}

extension OperationContext {
  /// Adds an operation to the composite around this one that grows: to the next one, if there are
  /// several.
  ///
  /// The composite runs it when there is a place for it, waits for it, and cancels it like its other
  /// children. Where the composite is stopping already, it never begins.
  ///
  /// - Throws: ``ChildNotAddedError`` if no composite around it was made to grow, if that has ended, or
  ///   if its children give something else.
  public func add(_ child: some ComposableOperation) throws(ChildNotAddedError) {
    guard let growth = scope?.environment.growth as? Growth else {
      throw ChildNotAddedError(name: child.operationName, reason: .nothingGrows)
    }
    try growth.add(child)
  }

  /// The same context around the children of a composite that grows.
  fileprivate func growing(_ growth: Growth) -> OperationContext {
    var environment = environment
    environment.growth = growth
    return OperationContext(scope: OperationScope(within: scope, in: environment), depth: depth)
  }
}
