/// How far a child of a parallel composite came: one byte a child.
@usableFromInline enum ChildState: UInt8, Sendable {
  case notBegun
  /// It ended in a result, which lies in its slot.
  case result
  /// It was cancelled, and a value came too late; the value lies in its slot.
  case lateResult
  case error
  /// It stopped by itself, without an error.
  case cancelledItself
  /// It was cancelled with its composite, by a sibling's end or from outside.
  case cancelledWithComposite
}
