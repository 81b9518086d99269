/// The children of a parallel run and the memory for their results, by address: running a child
/// neither copies nor counts it, and the engine is the same code for children of every type.
// Sendable, and safe to pass around: the arrays and the memory behind the addresses outlive the
// run (`ListRun` and `PackRun` see to that), nobody writes to the arrays, every slot is for a value of
// its child's `Success` and written by the one task that runs the child; that task reads it to tell of
// it, and others do when the group of all these tasks is over.
@safe @usableFromInline struct ChildList: @unchecked Sendable {
  @safe @usableFromInline enum Children {
    /// Of one type, `stride` bytes apart.
    case uniform(any ComposableOperation.Type, UnsafeRawPointer, stride: Int)
    /// Of any types.
    case mixed(UnsafePointer<any ComposableOperation>)
  }

  @safe @usableFromInline enum Results {
    /// Side by side, `stride` bytes apart.
    case uniform(UnsafeMutableRawPointer, stride: Int)
    /// Anywhere.
    case mixed(UnsafePointer<ResultSlot>)
  }

  @usableFromInline let children: Children
  @usableFromInline let results: Results

  @inlinable init<Child: ComposableOperation>(
    _ children: UnsafePointer<Child>, results: UnsafeMutablePointer<Child.Success>
  ) {
    unsafe self.children = .uniform(
      Child.self, UnsafeRawPointer(children), stride: MemoryLayout<Child>.stride)
    unsafe self.results = .uniform(
      UnsafeMutableRawPointer(results), stride: MemoryLayout<Child.Success>.stride)
  }

  /// Children of any types that give the same.
  @inlinable init<Value>(
    _ children: UnsafePointer<any ComposableOperation<Value>>, results: UnsafeMutablePointer<Value>
  ) {
    // A box for operations of one result has the layout of a box for any operations: three words, the
    // type and its conformance (Swift 6.3). What the compiler knows of the result takes no room in it.
    precondition(
      MemoryLayout<any ComposableOperation<Value>>.size
        == MemoryLayout<any ComposableOperation>.size)
    unsafe self.children = .mixed(
      UnsafeRawPointer(children).assumingMemoryBound(to: (any ComposableOperation).self))
    unsafe self.results = .uniform(
      UnsafeMutableRawPointer(results), stride: MemoryLayout<Value>.stride)
  }

  init(_ children: UnsafePointer<any ComposableOperation>, slots: UnsafePointer<ResultSlot>) {
    unsafe self.children = .mixed(children)
    unsafe results = .mixed(slots)
  }

  /// The type of the first child, of which there is one.
  var firstType: any ComposableOperation.Type {
    switch children {
    case .uniform(let type, _, _): type
    case .mixed(let place): unsafe Swift.type(of: place.pointee)
    }
  }

  /// Where a child of a uniform list lies.
  @inline(__always) func listed(at index: Int) -> ListedOperation {
    guard case .uniform(_, let place, let stride) = children else { preconditionFailure() }
    return unsafe ListedOperation(at: place + index * stride, slot: slot(at: index))
  }

  /// A scope for the run of a child below another run. The other run's observers have been told.
  func childScope(
    at index: Int, in context: OperationContext, at time: EventTime
  ) -> OperationScope {
    func open<Child: ComposableOperation>(
      _ type: Child.Type, at place: UnsafeRawPointer
    ) -> OperationScope {
      unsafe place.assumingMemoryBound(to: type).pointee.childScope(in: context, at: time)
    }
    switch children {
    case .uniform(let type, let place, let stride):
      return unsafe open(type, at: place + index * stride)
    case .mixed(let place): return unsafe place[index].childScope(in: context, at: time)
    }
  }

  /// What the first children weigh together for the progress of their parent.
  func weight(of count: Int) -> Double {
    func open<Child: ComposableOperation>(
      _ type: Child.Type, at place: UnsafeRawPointer
    ) -> Double {
      let children = unsafe UnsafeBufferPointer(
        start: place.assumingMemoryBound(to: type), count: count)
      return unsafe children.reduce(0) { $0 + $1.weight }
    }
    switch children {
    case .uniform(let type, let place, _): return unsafe open(type, at: place)
    case .mixed(let place): return (0..<count).reduce(0) { unsafe $0 + place[$1].weight }
    }
  }

  /// A copy of the result of a child that has left one.
  func value(at index: Int) -> any Sendable {
    func open<Child: ComposableOperation>(_ type: Child.Type) -> any Sendable {
      slot(at: index).value(as: Child.Success.self)
    }
    let type: any ComposableOperation.Type =
      switch children {
      case .uniform(let type, _, _): type
      case .mixed(let place): unsafe type(of: place[index])
      }
    return open(type)
  }

  /// Where a child's result belongs.
  @inline(__always) func slot(at index: Int) -> ResultSlot {
    switch results {
    case .uniform(let place, let stride): unsafe ResultSlot(at: place + index * stride)
    case .mixed(let slots): unsafe slots[index]
    }
  }
}
