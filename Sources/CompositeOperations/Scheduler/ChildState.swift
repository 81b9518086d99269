/// The state of a child of a parallel composite: one byte per child.
@usableFromInline enum ChildState: UInt8, Sendable {
  case notBegun
  /// It ended in a result, which is in its slot.
  case result
  /// It returned a value after it was cancelled. The value is in its slot.
  case lateResult
  case error
  /// It ended as cancelled, although it was not cancelled.
  case cancelledItself
  /// It was cancelled with its composite, by the end of a sibling or from outside.
  case cancelledWithComposite
}
