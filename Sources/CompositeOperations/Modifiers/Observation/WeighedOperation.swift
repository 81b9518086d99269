extension ComposableOperation {
  /// Sets the weight of the operation in the progress of its parent.
  ///
  /// ```swift
  /// let sync = ParallelOperation(repositories.map { FetchIssues(repository: $0).weighing(9) })
  /// ```
  ///
  /// - Parameter weight: The weight among the children of the parent; 1 without this modifier.
  /// - Precondition: `weight` is positive and finite.
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
