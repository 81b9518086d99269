/// Storage for one result per operation, written by index from any thread.
// Sendable: every index is written by one operation, and read after all of them have ended.
final class Slots: @unchecked Sendable {
  private let slots: UnsafeMutableBufferPointer<UInt64>

  init(count: Int) {
    slots = .allocate(capacity: count)
    slots.initialize(repeating: 0)
  }

  deinit { slots.deallocate() }

  subscript(index: Int) -> UInt64 {
    get { slots[index] }
    set { slots[index] = newValue }
  }

  var sum: UInt64 { slots.sum }
}
