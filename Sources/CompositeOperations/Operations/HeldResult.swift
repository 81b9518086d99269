/// A result that the engine owns until it reaches an outcome. For the engine.
///
/// The receiver of the outcome then owns the value, and the engine drops the cleanup. A value that
/// no outcome carries is discarded.
@frozen public struct HeldResult<Success: Sendable>: Sendable {
  /// The value.
  public let value: Success
  /// Discards the value; nil if the value needs no cleanup.
  public let cleanup: Cleanup?

  /// Creates a result with the closure that discards it.
  @inlinable public init(_ value: Success, cleanup: Cleanup? = nil) {
    self.value = value
    self.cleanup = cleanup
  }
}
