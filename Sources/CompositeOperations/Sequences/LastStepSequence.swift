/// A sequence whose output is the result of its last step.
protocol LastStepSequence: OperationSequence {}

extension LastStepSequence {
  public func output(of steps: FinishedSteps) -> Output {
    // Called only if the last step ended in a result. These sequences have at least one step, keep
    // the last one, and have only steps with the result type `Output`.
    guard let output = steps.last?.result(as: Output.self) else {
      preconditionFailure("\(Self.self): the last of \(steps.count) steps has no \(Output.self)")
    }
    return output
  }
}
