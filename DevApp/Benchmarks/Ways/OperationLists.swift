import CompositeOperations

/// The same operations in every form that a list of them can have.
struct OperationLists {
  let any: Prepared<[any ComposableOperation<UInt64>]>
  /// Operations of two types, one type after the other.
  let runs: Prepared<[any ComposableOperation<UInt64>]>
  let generic: Prepared<[Work]>
  let closures: Prepared<[SimpleOperation<UInt64>]>
  let classes: Prepared<[ClassWork]>
  let synchronous: Prepared<[SynchronousWork]>

  init(count: Int, steps: Int = 0) {
    any = Prepared { (0..<count).map { mixed($0, steps: steps) } }
    runs = Prepared {
      (0..<count).map { index in
        if index < count / 2 { return Work(seed: UInt64(index), steps: steps) }
        return OtherWork(seed: UInt64(index), steps: steps)
      }
    }
    generic = Prepared { (0..<count).map { Work(seed: UInt64($0), steps: steps) } }
    closures = Prepared {
      (0..<count).map { index in
        let seed = UInt64(index)
        return SimpleOperation { work(seed, steps: steps) }
      }
    }
    classes = Prepared { (0..<count).map { ClassWork(seed: UInt64($0), steps: steps) } }
    synchronous = Prepared { (0..<count).map { SynchronousWork(seed: UInt64($0), steps: steps) } }
  }
}
