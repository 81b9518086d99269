/// A sequence whose output is the result of its last step.
protocol LastStepSequence: OperationSequence {}

extension LastStepSequence {
  public func output(of steps: FinishedSteps) -> Output {
    // Asked only when the last step has ended in a result; these sequences have at least one step,
    // keep it, and make steps that give nothing but an `Output`.
    guard let output = steps.last?.result(as: Output.self) else {
      preconditionFailure("\(Self.self): the last of \(steps.count) steps has no \(Output.self)")
    }
    return output
  }
}
