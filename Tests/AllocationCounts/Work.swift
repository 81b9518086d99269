import CompositeOperations

/// An operation that only returns a value.
struct Work: ComposableOperation {
  var value = 1

  func perform(in context: OperationContext) -> Int { value }
}

/// The same operation as another type, so that a list of both cannot be specialized for one type.
struct OtherWork: ComposableOperation {
  var value = 1

  func perform(in context: OperationContext) -> Int { value }
}

/// An operation that suspends, like most operations of users.
struct Attending: ComposableOperation {
  let meeting: Meeting

  func perform(in context: OperationContext) async throws -> Int {
    await meeting.attend()
    return 1
  }
}

func mixed(_ count: Int) -> [any ComposableOperation<Int>] {
  (0..<count).map { index in
    if index.isMultiple(of: 2) { return Work() }
    return OtherWork()
  }
}

/// A sequence of operations of two alternating types, which adds up their results.
struct Steps: OperationSequence {
  let count: Int
  let history: StepHistory
  private var begun = 0
  private var sum = 0

  init(count: Int, history: StepHistory) {
    self.count = count
    self.history = history
  }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let value = previous?.result(of: Work.self) { sum += value }
    if let value = previous?.result(of: OtherWork.self) { sum += value }
    if begun == count { return nil }
    begun += 1
    return begun.isMultiple(of: 2) ? Work() : OtherWork()
  }

  func output(of steps: FinishedSteps) -> Int { sum }
}

/// Ignores every event.
struct IdleObserver: OperationObserver {
  func observe(_ event: OperationEvent) {}
}
