extension ParallelOperation {
  /// Creates a composite whose children can add further children while they run, with
  /// ``OperationContext/add(_:)``.
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
  /// The composite ends when all its children have ended, including the added ones. The results of
  /// added children follow the others, in the order in which they were added. In all other
  /// respects, added children are like the initial ones. The error of this composite contains only
  /// children that began. It omits the others, even if they are initial children.
  ///
  /// - Parameters:
  ///   - children: The initial children.
  ///   - width: The maximum number of children in flight.
  ///   - mode: The reaction to a child that ends without a result.
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

  /// Creates a composite whose children can add further children while they run, and whose results
  /// are consumed as they arrive.
  ///
  /// Results are not stored, so memory grows only with the width and the number of children that
  /// have not begun. A child counts towards the width until its result has been consumed, which
  /// applies back pressure.
  ///
  /// - Parameters:
  ///   - children: The initial children.
  ///   - width: The maximum number of children in flight.
  ///   - mode: The reaction to a child that ends without a result.
  ///   - consume: Consumes a result. Called for one result at a time, in the order in which they
  ///     arrive. An error that it throws counts as the error of the child.
  public init<Child: ComposableOperation>(
    growing children: [Child], width: OperationWidth = .limited(to: 64),
    onFailure mode: FailureMode = .cancelRemaining,
    consumingResults consume:
      nonisolated(nonsending) @escaping @Sendable (Child.Success) async throws -> Void
  ) where Success == Void {
    self.init(growing: children, onFailure: mode) { source in
      SourcePlan<Child.Success, Success>(
        makeSource: { source }, width: width,
        giving: .nothing((), consumer: { try await consume($0.move(as: Child.Success.self)) }),
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
  /// Adds a child to the innermost enclosing ``ParallelOperation`` created with `growing:`.
  ///
  /// The composite runs the child when its width permits, waits for it, and cancels it like its
  /// other children. If the composite is already stopping, the child never begins.
  ///
  /// - Parameter child: The operation to add.
  /// - Throws: ``ChildNotAddedError`` if there is no such composite, if it has ended, or if its
  ///   children have another result type.
  public func add(_ child: some ComposableOperation) throws(ChildNotAddedError) {
    guard let growth = scope?.environment.growth as? Growth else {
      throw ChildNotAddedError(name: child.operationName, reason: .noGrowingComposite)
    }
    try growth.add(child)
  }

  /// Returns this context for the children of a growing composite.
  fileprivate func growing(_ growth: Growth) -> OperationContext {
    var environment = environment
    environment.growth = growth
    let probes = probes
    if !probes.isEmpty { environment.probes = probes }
    return OperationContext(scope: OperationScope(within: scope, in: environment), depth: depth)
  }
}
