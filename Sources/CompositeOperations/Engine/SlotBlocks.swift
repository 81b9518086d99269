/// Memory for the results of children whose number is not known: blocks that are added as children
/// begin, each with a state and a slot a child.
// Sendable, because blocks are added by one task at a time, the one that is inside the turnstile of
// the source, a state and a slot are written by the one task that runs their child, and all of it is
// read when the run is over.
@safe final class SlotBlocks: @unchecked Sendable {
  /// Where a child's end and its result are noted.
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

  /// - Parameter blockSize: How many children a block is for.
  init<Value>(of type: Value.Type, blockSize: Int = 256) {
    self.blockSize = blockSize
    slotStride = MemoryLayout<Value>.stride
    alignment = MemoryLayout<Value>.alignment
  }

  deinit {
    while let block = unsafe blocks.popLast() { unsafe block.deallocate() }
  }

  private var slotsOffset: Int { (blockSize + alignment - 1) / alignment * alignment }

  /// The place of one more child.
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

  /// How the children ended, in order; the results are moved out, so this is to be asked once.
  ///
  /// - Parameter errors: The errors that children ended in, by index.
  func takeOutcomes<Value>(of type: Value.Type, errors: [Int: any Error]) -> [Outcome<Value>] {
    (0..<count).map { index in
      let place = place(of: index)
      let slot = unsafe place.slot.address.assumingMemoryBound(to: type)
      switch unsafe place.stateAddress.pointee {
      case .result: return .result(unsafe slot.move())
      case .lateResult:
        unsafe slot.deinitialize(count: 1)
        return .cancelled
      case .error: return errors[index].map(Outcome.error) ?? .cancelled
      case .notBegun, .cancelledItself, .cancelledWithComposite: return .cancelled
      }
    }
  }

  /// The results, which every child must have ended in; moved out, so this is to be asked once.
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
