internal import ThreadSupport

/// The addresses of the children of a parallel run and of the memory for their results.
///
/// Running a child neither copies nor retains it, and the engine has the same code for children of
/// every type.
// Sendable, and safe to pass around: the arrays and the memory at the addresses outlive the run
// (`ListRun` and `PackRun` ensure that), and no task writes to the arrays. A slot holds a value of
// its child's `Success`. Only the task that runs the child writes it. That task reads it to report
// the result, and other tasks read it when the group of all these tasks has ended.
@safe @usableFromInline struct ChildList: @unchecked Sendable {
  @safe @usableFromInline enum Children {
    /// Children of one type, `stride` bytes apart.
    case uniform(any ComposableOperation.Type, UnsafeRawPointer, stride: Int)
    /// Children of any types.
    case mixed(UnsafePointer<any ComposableOperation>)
  }

  @safe @usableFromInline enum Results {
    /// Consecutive slots, `stride` bytes apart.
    case uniform(UnsafeMutableRawPointer, stride: Int)
    /// Slots at any addresses.
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

  /// Creates a list of children of any types with the same type of result.
  @inlinable init<Value>(
    _ children: UnsafePointer<any ComposableOperation<Value>>, results: UnsafeMutablePointer<Value>
  ) {
    // An existential with a constrained result has the layout of an unconstrained one: three words,
    // the type and its conformance (Swift 6.3). The constraint takes no space.
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

  /// The type of the first child. There must be one.
  var firstType: any ComposableOperation.Type { type(at: 0) }

  func type(at index: Int) -> any ComposableOperation.Type {
    switch children {
    case .uniform(let type, _, _): type
    case .mixed(let place): unsafe Swift.type(of: place[index])
    }
  }

  // MARK: Children of one type in a mixed list

  /// Whether a child of a mixed list and the next one have the same type, and can be found in
  /// memory.
  @inline(__always) func hasRunOfOneType(at index: Int, of count: Int) -> Bool {
    index + 1 < count && haveOneType(index, index + 1) && MixedChild.isAsExpected
  }

  @inline(__always) func haveOneType(_ index: Int, _ other: Int) -> Bool {
    mixedChild(at: index).hasType(of: mixedChild(at: other))
  }

  func listedInMixed(at index: Int) -> ListedOperation {
    unsafe ListedOperation(at: mixedChild(at: index).operation, slot: slot(at: index))
  }

  @inline(__always) private func mixedChild(at index: Int) -> MixedChild {
    guard case .mixed(let place) = children else { preconditionFailure() }
    return unsafe MixedChild(at: place + index)
  }

  /// The addresses of a child of a uniform list and of its slot.
  @inline(__always) func listed(at index: Int) -> ListedOperation {
    guard case .uniform(_, let place, let stride) = children else { preconditionFailure() }
    return unsafe ListedOperation(at: place + index * stride, slot: slot(at: index))
  }

  /// Returns a scope for the run of a child, and reports the start of the child to the observers of
  /// its parent.
  ///
  /// - Parameter spare: The scope of a child that has ended; nil afterwards, if it is used again.
  func childScope(
    at index: Int, in context: OperationContext, at time: EventTime,
    using spare: inout OperationScope?
  ) -> OperationScope {
    func open<Child: ComposableOperation>(
      _ type: Child.Type, at place: UnsafeRawPointer, using spare: inout OperationScope?
    ) -> OperationScope {
      unsafe place.assumingMemoryBound(to: type).pointee.childScope(
        in: context, at: time, using: &spare)
    }
    switch children {
    case .uniform(let type, let place, let stride):
      return unsafe open(type, at: place + index * stride, using: &spare)
    case .mixed(let place):
      return unsafe place[index].childScope(in: context, at: time, using: &spare)
    }
  }

  /// The total weight of the first `count` children for the progress of their parent.
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

  /// Returns a copy of the result of a child that has one.
  func value(at index: Int) -> any Sendable {
    func open<Child: ComposableOperation>(_ type: Child.Type) -> any Sendable {
      slot(at: index).value(as: Child.Success.self)
    }
    return open(type(at: index))
  }

  /// The slot for the result of a child.
  @inline(__always) func slot(at index: Int) -> ResultSlot {
    switch results {
    case .uniform(let place, let stride): unsafe ResultSlot(at: place + index * stride)
    case .mixed(let slots): unsafe slots[index]
    }
  }
}
