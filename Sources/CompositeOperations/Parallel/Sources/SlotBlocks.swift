/// Memory for the results of an unknown number of children: blocks that are added as children
/// begin, each with a state and a slot per child.
// Sendable, because one task at a time adds blocks: the holder of the mutex of the source, or of the
// lock of the consumption. Only the task that runs a child uses its state and its slot, and after it
// the task that consumes the result. The rest is read after the run.
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
  private let slotsOffset: Int
  // Unchecked, because one task at a time uses them.
  @exclusivity(unchecked) private var blocks: [UnsafeMutableRawPointer] = unsafe []
  /// The block to which places are added.
  @exclusivity(unchecked) private var last: UnsafeMutableRawPointer?
  /// How many places of the last block are in use.
  @exclusivity(unchecked) private var countInLast: Int

  /// - Parameter blockSize: The number of children per block.
  init<Value>(of type: Value.Type, blockSize: Int = 256) {
    self.blockSize = blockSize
    slotStride = MemoryLayout<Value>.stride
    alignment = MemoryLayout<Value>.alignment
    slotsOffset = (blockSize + alignment - 1) / alignment * alignment
    unsafe countInLast = blockSize
  }

  deinit {
    while let block = unsafe blocks.popLast() { unsafe block.deallocate() }
  }

  private var count: Int { unsafe blocks.count * blockSize - (blockSize - countInLast) }

  /// Adds a place for another child.
  @inline(__always) func add() -> Place {
    if unsafe countInLast == blockSize { addBlock() }
    guard let block = unsafe last else { preconditionFailure("there is no block") }
    defer { unsafe countInLast += 1 }
    return unsafe place(in: block, at: countInLast)
  }

  @inline(never) private func addBlock() {
    let block = UnsafeMutableRawPointer.allocate(
      byteCount: slotsOffset + blockSize * slotStride, alignment: alignment)
    unsafe block.initializeMemory(as: ChildState.self, repeating: .notBegun, count: blockSize)
    unsafe blocks.append(block)
    unsafe last = block
    unsafe countInLast = 0
  }

  @inline(__always) private func place(in block: UnsafeMutableRawPointer, at offset: Int) -> Place {
    unsafe Place(
      stateAddress: (block + offset).assumingMemoryBound(to: ChildState.self),
      slot: ResultSlot(at: block + slotsOffset + offset * slotStride))
  }

  /// Returns how the children ended, in order. Moves the results out, so call it once.
  ///
  /// - Parameter errors: The errors of the children that failed, by index.
  func takeOutcomes<Value>(of type: Value.Type, errors: [Int: any Error]) -> [Outcome<Value>] {
    (0..<count).map { index in
      let place = unsafe place(in: blocks[index / blockSize], at: index % blockSize)
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
