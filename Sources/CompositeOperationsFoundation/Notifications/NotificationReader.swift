internal import CompositeOperations
internal import Foundation

/// Reads notifications one after another, until one has a result.
///
/// So there is never a second result that would be lost, however many threads post.
final class NotificationReader<Success: Sendable>: Sendable {
  private let read: @Sendable (Notification) -> Success?
  private let finish: OperationFinish<Success>
  private let machine = Lock(StateMachine())

  init(
    by read: @escaping @Sendable (Notification) -> Success?, finish: OperationFinish<Success>
  ) {
    self.read = read
    self.finish = finish
  }

  /// Reads a notification and those that arrive meanwhile. If another thread is reading, leaves it
  /// to that thread.
  func receive(_ notification: Notification) {
    var next = PendingNotification(notification: notification)
    guard machine.withLock({ $0.received(next) }) else { return }
    while true {
      if let success = read(next.notification) {
        let discarded = machine.withLock { $0.accepted() }
        return withExtendedLifetime(discarded) { finish(.result(success)) }
      }
      switch machine.withLock({ $0.rejected() }) {
      case .read(let notification): next = notification
      case .finish(let outcome, let discarded):
        return withExtendedLifetime(discarded) { finish(outcome) }
      case .wait: return
      }
    }
  }

  /// Ends the reading, unless it has ended. A notification that is being read is waited for, and
  /// its result takes precedence over the outcome.
  func finish(with outcome: Outcome<Success>) {
    if machine.withLock({ $0.finished(with: outcome) }) { finish(outcome) }
  }
}

extension NotificationReader {
  // Sendable: only the thread that reads it has access to it.
  private struct PendingNotification: @unchecked Sendable {
    let notification: Notification
  }

  /// Returns unread notifications, so that they are freed outside the lock.
  private struct StateMachine: Sendable {
    /// Notifications that will not be read, and an outcome that does not count.
    struct Discarded: Sendable {
      var pending: [PendingNotification] = []
      var outcome: Outcome<Success>?
    }

    private enum State: Sendable {
      /// No notification is being read.
      case waiting
      /// A notification is being read. The others follow, and then the end.
      case reading(pending: [PendingNotification], end: Outcome<Success>?)
      /// There is a result, or the reading has ended.
      case finished
    }

    enum Action: Sendable {
      case read(PendingNotification)
      case finish(Outcome<Success>, Discarded)
      case wait
    }

    private var state = State.waiting

    /// - Returns: Whether to read the notification now.
    mutating func received(_ notification: PendingNotification) -> Bool {
      switch state {
      case .waiting:
        state = .reading(pending: [], end: nil)
        return true
      case .reading(let pending, let end):
        state = .reading(pending: pending + [notification], end: end)
        return false
      case .finished: return false
      }
    }

    mutating func accepted() -> Discarded {
      guard case .reading(let pending, let end) = state else {
        preconditionFailure("accepted() was called while no notification is being read")
      }
      state = .finished
      return Discarded(pending: pending, outcome: end)
    }

    mutating func rejected() -> Action {
      switch state {
      case .reading(let pending, let end?):
        state = .finished
        return .finish(end, Discarded(pending: pending))
      case .reading(var pending, nil):
        guard !pending.isEmpty else {
          state = .waiting
          return .wait
        }
        let notification = pending.removeFirst()
        state = .reading(pending: pending, end: nil)
        return .read(notification)
      case .waiting, .finished:
        preconditionFailure("rejected() was called while no notification is being read")
      }
    }

    /// - Returns: Whether the reading ends with this outcome now.
    mutating func finished(with outcome: Outcome<Success>) -> Bool {
      switch state {
      case .waiting:
        state = .finished
        return true
      case .reading(let pending, nil):
        state = .reading(pending: pending, end: outcome)
        return false
      case .reading, .finished: return false
      }
    }
  }
}
