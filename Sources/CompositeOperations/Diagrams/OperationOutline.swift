/// The operations that an operation will run, as far as they are known in advance.
@usableFromInline enum OperationOutline {
  /// In parallel.
  case parallel([any ComposableOperation])
  /// In sequence.
  case sequence([any ComposableOperation])
  /// In sequence. How they end decides what follows.
  case start([any ComposableOperation])
  /// In the order of their dependencies.
  case graph(OperationDiagram)
}

/// An operation that knows in advance some of the operations that it will run.
protocol OutlineBearing: ComposableOperation {
  var outline: OperationOutline { get }
}
