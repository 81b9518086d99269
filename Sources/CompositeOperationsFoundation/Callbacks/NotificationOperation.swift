public import CompositeOperations
public import Foundation

/// Waits for a notification.
///
/// ```swift
/// let name = NotificationOperation(.contactsChanged) { note in note.userInfo?["name"] as? String }
///   .timingOut(after: .seconds(30))
/// ```
///
/// It listens from the moment at which it is run: one that was posted before is not seen. It no longer listens
/// when it has ended, or was cancelled.
public struct NotificationOperation<Success: Sendable>: ComposableOperation {
  private let name: Notification.Name
  private let center: NotificationCenter
  private let read: @Sendable (Notification) -> Success?

  /// - Parameters:
  ///   - name: What the notification is called.
  ///   - center: Where it is posted.
  ///   - read: What the run comes to; nil to wait for another one. It is called on the thread of whoever
  ///     posts.
  public init(
    _ name: Notification.Name, in center: NotificationCenter = .default,
    _ read: @escaping @Sendable (Notification) -> Success?
  ) {
    self.name = name
    self.center = center
    self.read = read
  }

  /// One that the name alone is enough for.
  public init(_ name: Notification.Name, in center: NotificationCenter = .default)
  where Success == Void {
    self.init(name, in: center) { _ in () }
  }

  public func perform(in context: OperationContext) async throws -> Success {
    let subscription = Subscription(in: center)
    defer { subscription.end() }
    let first = SimpleOperation<Success>(callback: { finish in
      finish.onCancel { finish(.cancelled) }
      subscription.begin(for: name) { note in
        if let success = read(note), subscription.isFirst() { finish(.result(success)) }
      }
    })
    return try await first.perform(in: context)
  }
}

/// Listens, from one call to another.
// Sendable, because a center may be used from any thread, and the rest is behind a lock.
private final class Subscription: @unchecked Sendable {
  private struct State: @unchecked Sendable {
    var token: (any NSObjectProtocol)?
    var isOver = false
  }

  private let center: NotificationCenter
  private let state = Lock(State())

  init(in center: NotificationCenter) { self.center = center }

  func begin(for name: Notification.Name, _ body: @escaping @Sendable (Notification) -> Void) {
    let token = State(
      token: center.addObserver(forName: name, object: nil, queue: nil, using: body))
    state.withLock { $0.token = token.token }
  }

  /// Whether nobody has asked before.
  func isFirst() -> Bool {
    state.withLock { state in
      defer { state.isOver = true }
      return !state.isOver
    }
  }

  func end() {
    let state = state.withLock { state in
      defer { state = State(isOver: true) }
      return state
    }
    if let token = state.token { center.removeObserver(token) }
  }
}
