extension OperationContext {
  /// The maximum nesting of immediate tasks, which use the stack of their thread.
  ///
  /// This many fit into 512 KiB, the smallest stack of the platforms. Deeper children begin on a
  /// fresh stack.
  private static var deepest: Int { 48 }

  /// The context for children that may begin on the stack of their composite.
  @usableFromInline var oneDeeper: OperationContext {
    OperationContext(scope: scope, depth: depth + 1)
  }

  @usableFromInline var isTooDeep: Bool { depth > Self.deepest }

  /// The context for children that begin in an ordinary task.
  @usableFromInline var onFreshStack: OperationContext { OperationContext(scope: scope, depth: 0) }
}
