import Synchronization

/// A counter of arrivals that calls a closure when all have arrived.
final class Muster: Sendable {
  private struct State {
    var missing: Int
    var action: (@Sendable () -> Void)?
  }

  private let state: Mutex<State>

  init(expecting count: Int) { state = Mutex(State(missing: count)) }

  func arrive() {
    let action = state.withLock { state in
      state.missing -= 1
      return state.missing == 0 ? state.action : nil
    }
    action?()
  }

  func whenFull(_ action: @escaping @Sendable () -> Void) {
    let isFull = state.withLock { state in
      state.action = action
      return state.missing == 0
    }
    if isFull { action() }
  }

  func untilFull() async {
    await withUnsafeContinuation { continuation in whenFull { continuation.resume() } }
  }
}
