/// One run over a list of children with results of one type: the memory for the results, and the
/// runState that records which of them exist.
@safe @usableFromInline struct ListRun<Value: Sendable>: ~Copyable {
  @usableFromInline let runState: ListRunState
  // A slot holds a value if and only if the runState says so of its child. `results` and `outcomes`
  // consume the run, so values are moved out once.
  @usableFromInline let slots: UnsafeMutablePointer<Value>

  @inlinable init(count: Int, limit: Int, goal: ScheduledRun.Goal) {
    runState = ListRunState(count: count, limit: limit, goal: goal)
    unsafe slots = .allocate(capacity: count)
  }

  @inlinable deinit { unsafe slots.deallocate() }

  /// Runs the children and returns when all that began have ended.
  @inlinable nonisolated(nonsending) func run<Child: ComposableOperation<Value>>(
    _ children: ContiguousArray<Child>, in context: OperationContext
  ) async {
    guard let place = unsafe children.place else { return }
    await runState.run(unsafe ChildList(place, results: slots), in: context)
    withExtendedLifetime(children) {}
  }

  /// Runs children of several types, and returns when all that began have ended.
  @inlinable nonisolated(nonsending) func run(
    _ children: ContiguousArray<any ComposableOperation<Value>>,
    in context: OperationContext
  ) async {
    guard let place = unsafe children.place else { return }
    await runState.run(unsafe ChildList(place, results: slots), in: context)
    withExtendedLifetime(children) {}
  }

  /// Returns the results in the order of the children. Every child must have ended in a result.
  @inlinable consuming func results() -> [Value] {
    let count = runState.count
    // With a capacity of 0, the initializer would write to the storage that all empty arrays share.
    if count == 0 { return [] }
    return unsafe [Value](unsafeUninitializedCapacity: count) { buffer, initialized in
      unsafe buffer.baseAddress?.moveInitialize(from: slots, count: count)
      initialized = count
    }
  }

  /// Returns how every child ended, in order.
  @inlinable consuming func outcomes() -> [Outcome<Value>] {
    let errors = runState.errors
    return (0..<runState.count).map { index in
      unsafe runState.state(of: index).outcome(from: slots + index, error: errors[index])
    }
  }
}

extension ContiguousArray {
  /// The address of the elements, valid while the array is alive and not changed. A contiguous
  /// array always has storage of its own, which does not move. So the address stays valid after the
  /// closure, as long as the caller keeps the array alive.
  @inlinable var place: UnsafePointer<Element>? {
    unsafe withUnsafeBufferPointer { $0.baseAddress }
  }
}

/// One run over children with results of any types: a slot for each, and the runState that records
/// which slots are filled.
@safe struct PackRun: ~Copyable {
  let runState: ListRunState
  let children: ContiguousArray<any ComposableOperation>
  // Memory for one value of each child's type. A slot holds a value if and only if the runState says
  // so. `take` moves it out; its callers call it once per slot.
  private let slots: ContiguousArray<ResultSlot>

  init<each Child: ComposableOperation>(
    _ child: repeat each Child, limit: Int, goal: ScheduledRun.Goal
  ) {
    var children: ContiguousArray<any ComposableOperation> = []
    var slots: ContiguousArray<ResultSlot> = []
    func append<One: ComposableOperation>(_ child: One) {
      children.append(child)
      slots.append(unsafe ResultSlot(at: UnsafeMutablePointer<One.Success>.allocate(capacity: 1)))
    }
    repeat append(each child)
    self.children = children
    self.slots = slots
    runState = ListRunState(count: children.count, limit: limit, goal: goal)
  }

  deinit {
    for slot in slots { unsafe slot.address.deallocate() }
  }

  /// Runs the children and returns when all that began have ended.
  nonisolated(nonsending) func run(in context: OperationContext) async {
    guard let place = unsafe children.place, let slotPlace = unsafe slots.place else { return }
    await runState.run(unsafe ChildList(place, slots: slotPlace), in: context)
    withExtendedLifetime((children, slots)) {}
  }

  /// Moves a result out of its slot.
  func take<Value>(_ type: Value.Type, at index: Int) -> Value {
    unsafe slots[index].address.assumingMemoryBound(to: type).move()
  }

  /// Returns how a child ended, and moves its value out of its slot.
  func takeOutcome<Value>(_ type: Value.Type, at index: Int) -> Outcome<Value> {
    let slot = unsafe slots[index].address.assumingMemoryBound(to: type)
    return unsafe runState.state(of: index).outcome(from: slot, error: runState.errors[index])
  }
}
