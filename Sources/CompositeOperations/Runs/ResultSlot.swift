/// Memory for one result, which an operation initializes. For the engine.
///
/// Code outside the module can neither create nor read a slot.
// Safe and sendable: a slot is passed to one operation, which writes it once before it returns. The
// creator of the slot reads it only after that.
@_documentation(visibility: internal)
@safe @frozen public struct ResultSlot: @unchecked Sendable {
  @usableFromInline let address: UnsafeMutableRawPointer

  @usableFromInline init(at address: UnsafeMutableRawPointer) {
    unsafe self.address = unsafe address
  }

  @inlinable func initialize<Success>(to value: consuming Success) {
    unsafe address.assumingMemoryBound(to: Success.self).initialize(to: value)
  }

  /// Copies the value, which must be initialized. Only the creator of the slot calls this.
  @inlinable func value<Success>(as type: Success.Type) -> Success {
    unsafe address.assumingMemoryBound(to: type).pointee
  }

  /// Moves the value out. Only the creator of the slot and its consumer call this, once for each
  /// value.
  @inlinable func move<Success>(as type: Success.Type) -> Success {
    unsafe address.assumingMemoryBound(to: type).move()
  }
}

/// The address of an operation in a list of the engine, and the slot for its result. For the
/// engine.
// Safe and sendable: the list outlives the task group whose tasks read it and is never written, and
// an operation is sendable.
@_documentation(visibility: internal)
@safe @frozen public struct ListedOperation: @unchecked Sendable {
  @usableFromInline let address: UnsafeRawPointer
  @usableFromInline let slot: ResultSlot

  init(at address: UnsafeRawPointer, slot: ResultSlot) {
    unsafe self.address = unsafe address
    self.slot = slot
  }

  @inlinable @inline(__always)
  func pointer<Child>(to type: Child.Type) -> UnsafePointer<Child> {
    unsafe address.assumingMemoryBound(to: type)
  }
}

/// A result that the engine owns until it reaches an outcome. For the engine.
///
/// The receiver of the outcome then owns the value, and the engine drops the cleanup. A value that
/// no outcome carries is discarded.
@_documentation(visibility: internal)
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
