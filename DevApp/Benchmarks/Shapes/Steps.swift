import CompositeOperations

/// A sequence that creates operations of two alternating types, and adds up their results.
struct Steps: OperationSequence {
  let count: Int
  let history: StepHistory
  private var begun = 0
  private var sum: UInt64 = 0

  init(count: Int, history: StepHistory) {
    self.count = count
    self.history = history
  }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let value = previous?.result(of: Work.self) { sum &+= value }
    if let value = previous?.result(of: OtherWork.self) { sum &+= value }
    if begun == count { return nil }
    begun += 1
    return mixed(begun - 1)
  }

  func output(of steps: FinishedSteps) -> UInt64 { sum }
}
