import CompositeOperations

/// A call of an interface with completion handlers in a fixture.
final class Call: Sendable {
  private let isCancelled = Flag()

  /// - Parameter completion: Called once after some time, with nil if the call was cancelled.
  init(
    on stage: Stage, _ name: String, completion: @escaping @Sendable (Outcome<Handle>?) -> Void
  ) {
    let isCancelled = isCancelled
    Task(executorPreference: stage.executor) {
      try? await stage.takeTime()
      completion(isCancelled.isSet ? nil : .result(stage.open(name)))
    }
  }

  func cancel() { isCancelled.set() }
}

extension Stage {
  /// Returns a callback operation that opens a handle and is in flight as long as the call.
  func calling(_ crew: String, _ number: Int) -> AnyOperation<Handle> {
    let name = "\(crew) \(number)"
    return AnyOperation(
      SimpleOperation<Handle>.withCallback { finish in
        _ = self.begin(name, in: crew)
        let call = Call(on: self, name) { outcome in
          self.end(name, in: crew)
          finish(outcome ?? .cancelled)
        }
        finish.onCancel { call.cancel() }
      }.discarding { self.discard($0) }.named(name))
  }
}
