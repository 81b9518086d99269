extension OperationContext {
  /// Immediate tasks stand on one another on the real stack. This many are safe on the 512 KiB of
  /// the platforms' smallest stacks; what comes deeper begins on a fresh one.
  private static var deepest: Int { 48 }

  /// The context for children that may begin on the stack of their composite.
  @usableFromInline var oneDeeper: OperationContext {
    OperationContext(scope: scope, depth: depth + 1)
  }

  @usableFromInline var isTooDeep: Bool { depth > Self.deepest }

  /// The context for what begins with an ordinary task.
  @usableFromInline var onFreshStack: OperationContext { OperationContext(scope: scope, depth: 0) }
}
