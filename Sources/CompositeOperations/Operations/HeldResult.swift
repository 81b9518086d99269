/// A result while the engine has it in custody. For the engine.
///
/// A value that reaches an outcome is its receiver's; the engine forgets the disposal then. A value
/// that no outcome will carry is disposed of.
@frozen public struct HeldResult<Success: Sendable>: Sendable {
  public let value: Success
  /// What is to be done if nobody will see the value; nil if it may simply be dropped.
  public let disposal: Disposal?

  @inlinable public init(_ value: Success, disposal: Disposal? = nil) {
    self.value = value
    self.disposal = disposal
  }
}
