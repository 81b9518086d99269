/// Memory for one result, which an operation fills. For the engine.
///
/// Nobody outside the module can make or read one.
// Safe and sendable: it is handed to one operation, which writes it once before it returns; whoever
// made it reads it only after that.
@safe @frozen public struct ResultSlot: @unchecked Sendable {
  @usableFromInline let address: UnsafeMutableRawPointer

  @usableFromInline init(at address: UnsafeMutableRawPointer) {
    unsafe self.address = unsafe address
  }

  @inlinable func initialize<Success>(to value: consuming Success) {
    unsafe address.assumingMemoryBound(to: Success.self).initialize(to: value)
  }

  /// Copies the value, which must be there. To be called by whoever made the slot.
  @inlinable func value<Success>(as type: Success.Type) -> Success {
    unsafe address.assumingMemoryBound(to: type).pointee
  }

  /// Moves the value out. To be called once, by whoever made the slot.
  func move<Success>(as type: Success.Type) -> Success {
    unsafe address.assumingMemoryBound(to: type).move()
  }
}

/// Where an operation lies in a list of the engine's, and where its result belongs. For the engine.
// Safe and sendable: the list outlives the group whose tasks read it, nobody writes to it, and an
// operation is sendable.
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
