/// One run over children with results of any types: a slot for each, and the runState that records
/// which slots are filled.
@safe struct PackRun: ~Copyable {
  let runState: ParallelRunState
  let children: ContiguousArray<any ComposableOperation>
  // Memory for one value of each child's type. A slot holds a value if and only if the runState says
  // so. `take` moves it out; its callers call it once per slot.
  private let slots: ContiguousArray<ResultSlot>

  init<each Child: ComposableOperation>(
    _ child: repeat each Child, limit: Int, goal: ParallelRunState.Goal
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
    runState = ParallelRunState(count: children.count, limit: limit, goal: goal)
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
    switch runState.state(of: index) {
    case .result: return .result(take(type, at: index))
    case .lateResult:
      _ = take(type, at: index)
      return .cancelled
    case .error: return runState.errors[index].map(Outcome.error) ?? .cancelled
    case .notBegun, .cancelledItself, .cancelledWithComposite: return .cancelled
    }
  }
}
