import CompositeOperations
import DurableOperations
import SystemSupport

/// A step that does nothing but return its number.
struct NumberStep: ComposableOperation {
  let number: Int

  func perform(in context: OperationContext) async throws -> Int { number }
}

/// A flow of short steps, each of which changes its state.
struct CountingFlow: DurableSequence {
  let count: Int
  private var sum = 0

  init(count: Int) { self.count = count }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    let index = previous.map { $0.index + 1 } ?? 0
    sum += previous?.result(of: NumberStep.self) ?? 0
    return index < count ? NumberStep(number: index) : nil
  }

  func output(of steps: FinishedSteps) -> Int {
    FlowTimes.note(.output)
    return sum
  }
}

/// A flow whose journal keeps only its last step, and that waits after a number of steps.
struct LongFlow: DurableSequence {
  let count: Int
  private var finished = 0

  init(count: Int) { self.count = count }

  var history: StepHistory { .last(1) }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    FlowTimes.note(.nextOperation)
    if previous != nil { finished += 1 }
    return finished < count ? NumberStep(number: finished) : WaitingStep()
  }

  func output(of steps: FinishedSteps) -> Int { finished }
}

/// A flow whose only step waits until it is cancelled.
struct WaitingFlow: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? WaitingStep() : nil
  }
}

/// A step that waits until it is cancelled.
struct WaitingStep: ComposableOperation {
  func perform(in context: OperationContext) async throws {
    FlowTimes.note(.stepBegan)
    try await Task.sleep(for: .seconds(86_400))
  }
}

/// A flow that sleeps, parked, until a time, and then takes a step.
struct SleepingFlow: DurableSequence {
  /// Milliseconds since 1970.
  let wake: Int64

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    guard let previous else {
      let left = wake - EventTime.wallClockNow / 1_000_000
      return DurableSleep(for: .milliseconds(left))
    }
    return previous.index == 0 ? AwakeStep() : nil
  }
}

private struct AwakeStep: ComposableOperation {
  func perform(in context: OperationContext) async throws { FlowTimes.note(.stepBegan) }
}
