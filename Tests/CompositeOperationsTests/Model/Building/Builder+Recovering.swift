import CompositeOperations

extension Builder {
  func recovering(
    _ recovering: Tree.Recovering, _ base: some ComposableOperation<ShownValue>,
    _ another: some ComposableOperation<ShownValue>, at node: Int
  ) -> AnyShown {
    switch recovering.way {
    case .value:
      return window(
        base.recovering { error in
          try await make(recovering, of: error, at: node)
        }, at: node)
    case .operation:
      return window(
        base.catching { error in
          if recovering.remedy != .value {
            _ = try await make(recovering, of: error, at: node)
          } else {
            await take(recovering.turns, toHearOf: error, at: node)
          }
          recorder.add(.answered(node, .child(1)))
          return another
        }, at: node)
    case .otherError:
      return window(
        base.mapError { error in
          tell(error, to: node)
          let remedy = recovering.remedy == .value ? .error : recovering.remedy
          let other = self.error(remedy, insteadOf: error) ?? error
          recorder.add(.came(node, .error(ShownError(other))))
          return other
        }, at: node)
    case .fallingBack: return window(base.fallingBack(to: another), at: node)
    case .ignoring:
      return window(base.ignoringErrors(with: Tree.Recovering.substitute(at: node)), at: node)
    }
  }

  private func take(_ turns: Int, toHearOf error: any Error, at node: Int) async {
    tell(error, to: node)
    for _ in 0..<turns { await Task.yield() }
  }

  /// What a closure makes of an error, which it notes.
  private func make(
    _ recovering: Tree.Recovering, of error: any Error, at node: Int
  ) async throws -> ShownValue {
    await take(recovering.turns, toHearOf: error, at: node)
    if let error = self.error(recovering.remedy, insteadOf: error) {
      recorder.add(.came(node, .error(ShownError(error))))
      throw error
    }
    let value = ShownValue.number(recorder.number())
    recorder.add(.came(node, .result(value)))
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
