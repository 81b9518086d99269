import Dispatch
import Synchronization

/// Operations that wait until all of them wait, and are then resumed in a given order.
///
/// An instance can serve several runs, one after another.
final class Crowd: Sendable {
  private enum Waiter {
    case task(UnsafeContinuation<Void, Never>)
    case callback(@Sendable () -> Void)

    func resume() {
      switch self {
      case .task(let continuation): continuation.resume()
      case .callback(let callback): callback()
      }
    }
  }

  private struct State {
    var waiters: [Waiter?]
    var arrived = 0
  }

  private let order: [Int]
  private let whenFull: @Sendable () -> Void
  private let state: Mutex<State>

  /// - Parameters:
  ///   - order: The indices of the operations, in the order in which they are resumed.
  ///   - whenFull: A closure that is called when all wait, before any is resumed.
  init(order: [Int], whenFull: @escaping @Sendable () -> Void = {}) {
    self.order = order
    self.whenFull = whenFull
    state = Mutex(State(waiters: Array(repeating: nil, count: order.count)))
  }

  func wait(at index: Int) async {
    await withUnsafeContinuation { arrive(.task($0), at: index) }
  }

  func wait(at index: Int, then callback: @escaping @Sendable () -> Void) {
    arrive(.callback(callback), at: index)
  }

  private func arrive(_ waiter: Waiter, at index: Int) {
    let isFull = state.withLock { state in
      state.waiters[index] = waiter
      state.arrived += 1
      return state.arrived == order.count
    }
    if !isFull { return }
    whenFull()
    DispatchQueue.global().async { self.resumeAll() }
  }

  private func resumeAll() {
    let waiters = state.withLock { state in
      let waiters = state.waiters
      state = State(waiters: Array(repeating: nil, count: order.count))
      return waiters
    }
    for index in order { waiters[index]?.resume() }
  }
}
