extension OperationContext {
  /// Reports the progress of the run to its observers.
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
  /// Reports of a body take precedence over the progress of its children. Has no effect if the run
  /// is not observed or its body has ended.
  ///
  /// - Parameters:
  ///   - completed: The number of completed units.
  ///   - total: The total number of units; nil if it is unknown.
  ///   - unit: The name of the units, such as files or bytes.
  @inlinable public func report(_ completed: Int, of total: Int? = nil, unit: String? = nil) {
    if scope != nil {
      tell { .progressed(completed: completed, total: total, unit: unit) }
    }
  }

  /// Announces the number of children, from whose progress the progress of the run is derived.
  ///
  /// ```swift
  /// let issues = SimpleOperation.withContext { context in
  ///   context.expectChildren(2)
  ///   let user = try await context.run(FetchUser())
  ///   return try await context.run(FetchIssuesOf(user))
  /// }
  /// ```
  ///
  /// The composites of the library announce their children themselves, if they know the number.
  /// In the progress of the run, a child has the weight 1 until it begins, and then its own weight:
  /// see ``ComposableOperation/weighing(_:)``.
  ///
  /// - Parameter count: The number of children.
  @inlinable public func expectChildren(_ count: Int) {
    if scope != nil { tell { .childrenExpected(.count(count)) } }
  }

  /// Announces the total weight of the children that the run is going to run.
  ///
  /// ```swift
  /// let issues = SimpleOperation.withContext { context in
  ///   context.expectChildren(weighing: 10)
  ///   let user = try await context.run(FetchUser())
  ///   return try await context.run(FetchIssuesOf(user).weighing(9))
  /// }
  /// ```
  ///
  /// - Parameter weight: The sum of the weights of the children. A child has a weight of 1 unless
  ///   ``ComposableOperation/weighing(_:)`` sets another one.
  @inlinable public func expectChildren(weighing weight: Double) {
    if scope != nil { tell { .childrenExpected(.weight(weight)) } }
  }

  /// Sets attributes of the run, which traces show with it.
  ///
  /// ```swift
  /// let upload = SimpleOperation.withContext { context in
  ///   context.setAttributes(["upload.bucket": "photos", "upload.files": .integer(items.count)])
  ///   for item in items { try await use(item) }
  /// }
  /// ```
  ///
  /// Attributes replace earlier ones of the run with the same names. Traces keep the first 100
  /// names of a run. OpenTelemetry's
  /// [conventions](https://opentelemetry.io/docs/specs/semconv/) have names for many things. The
  /// attribute `span.kind` is the kind of the exported span: `client`, `server`, `producer` or
  /// `consumer`.
  ///
  /// Has no effect if the run is not observed or its body has ended.
  ///
  /// - Parameter attributes: The values by name. Not evaluated if the run is not observed.
  @inlinable public func setAttributes(
    _ attributes: @autoclosure () -> [String: OperationAttribute]
  ) {
    if scope != nil { tell { .attributesSet(attributes()) } }
  }

  /// The identity and the parents of the run; nil if it is not observed.
  package var observedPlace: OperationPlace? { path.place }

  /// Logs a line at the level ``OperationLogLevel/info`` to the observers of the run.
  ///
  /// - Parameter line: The text. Not evaluated if no observer wants lines of this level.
  @inlinable public func log(_ line: @autoclosure () -> String) { log(.info, line()) }

  /// Logs a line to the observers of the run.
  ///
  /// ```swift
  /// let fetch = SimpleOperation.withContext { context in
  ///   context.log(.debug, "asking the mirror")
  ///   return try await context.run(FetchUser())
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - level: The severity of the line.
  ///   - line: The text. Not evaluated if no observer wants lines of this level.
  @inlinable public func log(
    _ level: OperationLogLevel, _ line: @autoclosure () -> String
  ) {
    if scope != nil, wantsLines(of: level) { tell { .logged(level, line()) } }
  }

  @usableFromInline func wantsLines(of level: OperationLogLevel) -> Bool {
    guard let scope, scope.isObserved else { return false }
    return scope.environment.wantsLines(of: level)
  }

  /// Reports an event to the observers of the run, if the run has not ended.
  @usableFromInline package func tell(_ kind: () -> OperationEvent.Kind) {
    guard let scope, scope.isObserved, !scope.hasEnded else { return }
    scope.report(kind())
  }
}
