extension OperationContext {
  /// Tells those who observe the run how far it is.
  ///
  /// ```swift
  /// let save = SimpleOperation.withContext { context in
  ///   for (index, item) in items.enumerated() {
  ///     try await use(item)
  ///     context.report(index + 1, of: items.count, unit: "items")
  ///   }
  /// }
  /// ```
  ///
  /// What a body tells of itself goes before what its children tell. Where nobody observes, and once the body
  /// has ended, nothing happens.
  ///
  /// - Parameters:
  ///   - completed: How many units are done.
  ///   - total: How many there are; nil if nobody knows.
  ///   - unit: What is counted, such as files or bytes.
  @inlinable public func report(_ completed: Int, of total: Int? = nil, unit: String? = nil) {
    if scope != nil {
      tell { .progressed(completed: completed, total: total, unit: unit) }
    }
  }

  /// Tells those who observe the run how many children it is going to run, so that their progress makes its own.
  ///
  /// ```swift
  /// let issues = SimpleOperation.withContext { context in
  ///   context.expectChildren(2)
  ///   let user = try await context.run(FetchUser())
  ///   return try await context.run(FetchIssuesOf(user))
  /// }
  /// ```
  ///
  /// Composites of the library that know it do so by themselves. Those that have not begun count as if they
  /// weighed 1.
  ///
  /// - Parameter count: How many they are.
  @inlinable public func expectChildren(_ count: Int) {
    if scope != nil { tell { .childrenExpected(.count(count)) } }
  }

  /// Tells those who observe the run what its children are going to weigh together.
  ///
  /// ```swift
  /// let issues = SimpleOperation.withContext { context in
  ///   context.expectChildren(weighing: 10)
  ///   let user = try await context.run(FetchUser())
  ///   return try await context.run(FetchIssuesOf(user).weighing(9))
  /// }
  /// ```
  ///
  /// - Parameter weight: The sum of what they say by ``ComposableOperation/weighing(_:)``; one weighs 1 if it
  ///   does not say otherwise.
  @inlinable public func expectChildren(weighing weight: Double) {
    if scope != nil { tell { .childrenExpected(.weight(weight)) } }
  }

  /// Logs a line of the level ``OperationLogLevel/info``, for those who observe the run.
  ///
  /// - Parameter line: What to say. Not even made where nobody wants lines of that level.
  @inlinable public func log(_ line: @autoclosure () -> String) { log(.info, line()) }

  /// Logs a line, for those who observe the run.
  ///
  /// ```swift
  /// let fetch = SimpleOperation.withContext { context in
  ///   context.log(.debug, "asking the mirror")
  ///   return try await context.run(FetchUser())
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - level: How much it matters.
  ///   - line: What to say. Not even made where nobody wants lines of that level.
  @inlinable public func log(
    _ level: OperationLogLevel, _ line: @autoclosure () -> String
  ) {
    if scope != nil, wantsLines(of: level) { tell { .logged(level, line()) } }
  }

  @usableFromInline func wantsLines(of level: OperationLogLevel) -> Bool {
    guard let scope, scope.isObserved else { return false }
    return scope.environment.wantsLines(of: level)
  }

  /// Tells those who observe the run of something, if it has not ended.
  @usableFromInline func tell(_ kind: () -> OperationEvent.Kind) {
    guard let scope, scope.isObserved, !scope.hasEnded else { return }
    scope.report(kind())
  }
}
