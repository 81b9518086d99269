/// Memory for the results of an unknown number of children: blocks that are added as children
/// begin, each with a state and a slot per child.
// Sendable, because one task at a time adds blocks, the holder of the mutex of the source.
// Only the task that runs a child writes its state and its slot, and everything is read after the
// run.
@safe final class SlotBlocks: @unchecked Sendable {
  /// The memory for the state and the result of a child.
  @safe struct Place: Sendable {
    fileprivate nonisolated(unsafe) let stateAddress: UnsafeMutablePointer<ChildState>
    let slot: ResultSlot

    func note(_ state: ChildState) { unsafe stateAddress.pointee = state }
  }

  private let blockSize: Int
  private let slotStride: Int
  private let alignment: Int
  private(set) var count = 0
  private var blocks: [UnsafeMutableRawPointer] = unsafe []

  /// - Parameter blockSize: The number of children per block.
  init<Value>(of type: Value.Type, blockSize: Int = 256) {
    self.blockSize = blockSize
    slotStride = MemoryLayout<Value>.stride
    alignment = MemoryLayout<Value>.alignment
  }

  deinit {
    while let block = unsafe blocks.popLast() { unsafe block.deallocate() }
  }

  private var slotsOffset: Int { (blockSize + alignment - 1) / alignment * alignment }

  /// Adds a place for another child.
  func add() -> Place {
    if count.isMultiple(of: blockSize) {
      let block = UnsafeMutableRawPointer.allocate(
        byteCount: slotsOffset + blockSize * slotStride, alignment: alignment)
      unsafe block.initializeMemory(as: ChildState.self, repeating: .notBegun, count: blockSize)
      unsafe blocks.append(block)
    }
    count += 1
    return place(of: count - 1)
  }

  private func place(of index: Int) -> Place {
    let block = unsafe blocks[index / blockSize]
    let offset = index % blockSize
    return unsafe Place(
      stateAddress: (block + offset).assumingMemoryBound(to: ChildState.self),
      slot: ResultSlot(at: block + slotsOffset + offset * slotStride))
  }

  /// Returns how the children ended, in order. Moves the results out, so call it once.
  ///
  /// - Parameter errors: The errors of the children that failed, by index.
  func takeOutcomes<Value>(of type: Value.Type, errors: [Int: any Error]) -> [Outcome<Value>] {
    (0..<count).map { index in
      let place = place(of: index)
      let slot = unsafe place.slot.address.assumingMemoryBound(to: type)
      return unsafe place.stateAddress.pointee.outcome(from: slot, error: errors[index])
    }
  }

  /// Returns the results. Every child must have ended in one. Moves them out, so call it once.
  func takeResults<Value>(of type: Value.Type) -> [Value] {
    // As in `ListRun.results()`.
    if count == 0 { return [] }
    return unsafe [Value](unsafeUninitializedCapacity: count) { buffer, initialized in
      for number in unsafe blocks.indices {
        let first = number * blockSize
        guard let target = buffer.baseAddress else { break }
        unsafe (target + first).moveInitialize(
          from: (blocks[number] + slotsOffset).assumingMemoryBound(to: type),
          count: min(blockSize, count - first))
      }
      initialized = count
    }
  }
}
