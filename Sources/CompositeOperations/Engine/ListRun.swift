/// One run over a list of children whose results are of one type: the memory for the results, and
/// the board that says which of them are there.
@safe @usableFromInline struct ListRun<Value: Sendable>: ~Copyable {
  @usableFromInline let board: ParallelBoard
  // A slot holds a value exactly if the board says so of its child. Values are moved out once, by
  // `results` or `outcomes`, which consume the run.
  @usableFromInline let slots: UnsafeMutablePointer<Value>

  @inlinable init(count: Int, limit: Int, goal: ParallelBoard.Goal) {
    board = ParallelBoard(count: count, limit: limit, goal: goal)
    unsafe slots = .allocate(capacity: count)
  }

  @inlinable deinit { unsafe slots.deallocate() }

  /// Runs the children and returns when all that began have ended.
  @inlinable nonisolated(nonsending) func run<Child: ComposableOperation<Value>>(
    _ children: ContiguousArray<Child>, in context: OperationContext
  ) async {
    guard let place = unsafe children.place else { return }
    await board.run(unsafe ChildList(place, results: slots), in: context)
    withExtendedLifetime(children) {}
  }

  /// The same for children of several types.
  @inlinable nonisolated(nonsending) func run(
    _ children: ContiguousArray<any ComposableOperation<Value>>,
    in context: OperationContext
  ) async {
    guard let place = unsafe children.place else { return }
    await board.run(unsafe ChildList(place, results: slots), in: context)
    withExtendedLifetime(children) {}
  }

  /// The results in the order of the children, each of which must have ended in one.
  @inlinable consuming func results() -> [Value] {
    let count = board.count
    // An array made for no elements would write its count to the storage that all empty arrays share.
    if count == 0 { return [] }
    return unsafe [Value](unsafeUninitializedCapacity: count) { buffer, initialized in
      unsafe buffer.baseAddress?.moveInitialize(from: slots, count: count)
      initialized = count
    }
  }

  /// How every child ended, in order.
  @inlinable consuming func outcomes() -> [Outcome<Value>] {
    let errors = board.errors
    return (0..<board.count).map { index in
      switch board.state(of: index) {
      case .result: return .result(unsafe (slots + index).move())
      case .lateResult:
        unsafe (slots + index).deinitialize(count: 1)
        return .cancelled
      case .error: return errors[index].map(Outcome.error) ?? .cancelled
      case .notBegun, .cancelledItself, .cancelledWithComposite: return .cancelled
      }
    }
  }
}

extension ContiguousArray {
  /// Where the elements lie, as long as the array lives and is not changed: a contiguous array
  /// always has storage of its own, which does not move. So the address is good beyond the closure,
  /// for those who keep the array alive.
  @inlinable var place: UnsafePointer<Element>? {
    unsafe withUnsafeBufferPointer { $0.baseAddress }
  }
}
