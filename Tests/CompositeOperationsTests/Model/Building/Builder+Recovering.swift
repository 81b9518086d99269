import CompositeOperations

extension Builder {
  func recovering(
    _ recovering: Tree.Recovering, _ base: some ComposableOperation<ShownValue>,
    _ another: some ComposableOperation<ShownValue>, orTo others: [AnyShown], at node: Int
  ) -> AnyShown {
    switch recovering.way {
    case .value:
      return recorded(
        base.recovering { error in
          try await make(recovering, of: error, at: node)
        }, at: node)
    case .operation:
      return recorded(
        base.catching { error in
          if recovering.remedy != .value {
            _ = try await make(recovering, of: error, at: node)
          } else {
            await recordError(error, thenYield: recovering.yields, at: node)
          }
          recorder.add(.answered(node, .child(1)))
          return another
        }, at: node)
    case .otherError:
      return recorded(
        base.mapError { error in
          recordError(error, at: node)
          let remedy = recovering.remedy == .value ? .error : recovering.remedy
          let other = self.error(remedy, insteadOf: error) ?? error
          recorder.add(.closureEnded(node, .error(ShownError(other))))
          return other
        }, at: node)
    case .fallingBack: return recorded(base.fallingBack(to: another), at: node)
    case .fallingBackToList(let rounds):
      let alternatives = (0..<rounds).flatMap { _ in others }
      return recorded(base.fallingBack(toEachOf: alternatives), at: node)
    case .ignoring:
      return recorded(base.ignoringErrors(with: Tree.Recovering.substitute(at: node)), at: node)
    }
  }

  private func recordError(_ error: any Error, thenYield yields: Int, at node: Int) async {
    recordError(error, at: node)
    for _ in 0..<yields { await Task.yield() }
  }

  /// Records an error, and returns or throws what the closure of the modifier makes of it.
  private func make(
    _ recovering: Tree.Recovering, of error: any Error, at node: Int
  ) async throws -> ShownValue {
    await recordError(error, thenYield: recovering.yields, at: node)
    if let error = self.error(recovering.remedy, insteadOf: error) {
      recorder.add(.closureEnded(node, .error(ShownError(error))))
      throw error
    }
    let value = ShownValue.number(recorder.number())
    recorder.add(.closureEnded(node, .result(value)))
    return value
  }

  private func error(_ remedy: Tree.Recovering.Remedy, insteadOf error: any Error) -> (any Error)? {
    switch remedy {
    case .value: nil
    case .error: NumberedError(number: recorder.number())
    case .cancellation: CancellationError()
    case .sameError: error
    }
  }
}
