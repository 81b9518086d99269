extension ComposableOperation {
  /// The same operation, with its share in the progress of whatever runs it.
  ///
  /// ```swift
  /// let sync = ParallelOperation(repositories.map { FetchIssues(repository: $0).weighing(9) })
  /// ```
  ///
  /// - Parameter weight: What it weighs among the children of its parent; 1 where nobody says otherwise.
  /// - Precondition: It is a number above 0.
  @inlinable public func weighing(_ weight: Double) -> some ComposableOperation<Success> {
    WeighedOperation(base: self, weight: weight)
  }
}

@usableFromInline
struct WeighedOperation<Base: ComposableOperation>: TransparentOperation, WeightBearing {
  @usableFromInline let base: Base
  @usableFromInline let weight: Double

  @usableFromInline init(base: Base, weight: Double) {
    precondition(
      weight > 0 && weight.isFinite, "`weight` must be positive and finite (was \(weight))")
    self.base = base
    self.weight = weight
  }
}
