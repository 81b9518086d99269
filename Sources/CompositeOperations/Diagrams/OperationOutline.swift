/// What is known, before an operation runs, of what it is going to run.
@usableFromInline enum OperationOutline {
  /// Side by side.
  case parallel([any ComposableOperation])
  /// One after another.
  case sequence([any ComposableOperation])
  /// One after another, and how they end decides what follows.
  case start([any ComposableOperation])
  /// Each when what it needs is there.
  case graph(OperationDiagram)
}

/// An operation that runs others, and knows something of them beforehand.
protocol OutlineBearing: ComposableOperation {
  var outline: OperationOutline { get }
}
