extension ComposableOperation {
  /// Sets the name of the operation in events, errors and diagrams.
  @inlinable public func named(_ name: String) -> some ComposableOperation<Success> {
    NamedOperation(base: self, operationName: name)
  }
}

@usableFromInline struct NamedOperation<Base: ComposableOperation>: TransparentOperation {
  @usableFromInline let base: Base
  @usableFromInline let operationName: String

  @inlinable init(base: Base, operationName: String) {
    self.base = base
    self.operationName = operationName
  }

  @inlinable func modifiedName(within reach: Int) -> ModifiedName { ModifiedName(operationName) }
}

extension NamedOperation: NameBearing {}
