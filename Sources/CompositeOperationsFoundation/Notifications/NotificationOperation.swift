public import CompositeOperations
public import Foundation

/// An operation that waits for a notification.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let changed = Notification.Name("contactsChanged")
/// let number = NotificationOperation(changed, after: { oldAPI.reload() }) { note in
///   note.userInfo?["number"] as? Int
/// }
/// let outcome = await number.timingOut(after: .seconds(30)).run()
/// ```
///
/// The run observes the notification center from its start to its end, so a notification that was
/// posted earlier is missed. If your code triggers the notification, pass that code as `begin`: it
/// is called after the observation has started.
public struct NotificationOperation<Success: Sendable>: ComposableOperation {
  private let name: Notification.Name
  private let center: NotificationCenter
  private let begin: @Sendable () throws -> Void
  private let read: @Sendable (Notification) -> Success?

  /// Creates an operation that waits for a notification and reads its result.
  ///
  /// - Parameters:
  ///   - name: The name of the notification.
  ///   - center: The notification center that posts it.
  ///   - begin: Triggers the notification. It is called as soon as the observation has started. An
  ///     error that it throws ends the run, unless a notification has already done so.
  ///   - read: Returns the result of the run, or nil to wait for another notification. It is called
  ///     on the posting thread, for one notification at a time: a notification that is posted
  ///     during a call is read after it, on the same thread.
  public init(
    _ name: Notification.Name, in center: NotificationCenter = .default,
    after begin: @escaping @Sendable () throws -> Void = {},
    _ read: @escaping @Sendable (Notification) -> Success?
  ) {
    self.name = name
    self.center = center
    self.begin = begin
    self.read = read
  }

  /// Creates an operation that waits for a notification with a name.
  ///
  /// - Parameters:
  ///   - name: The name of the notification.
  ///   - center: The notification center that posts it.
  ///   - begin: Triggers the notification. It is called as soon as the observation has started.
  public init(
    _ name: Notification.Name, in center: NotificationCenter = .default,
    after begin: @escaping @Sendable () throws -> Void = {}
  ) where Success == Void {
    self.init(name, in: center, after: begin) { _ in () }
  }

  /// Waits for a notification that has a result.
  ///
  /// - Throws: The error of `begin`, and `CancellationError` if the run is cancelled.
  public func perform(in context: OperationContext) async throws -> Success {
    let subscription = Subscription(in: center)
    defer { subscription.end() }
    let first = SimpleOperation<Success>.withCallback { finish in
      let reader = NotificationReader(by: read, finish: finish)
      finish.onCancel { reader.finish(with: .cancelled) }
      subscription.begin(for: name) { reader.receive($0) }
      do { try begin() } catch { reader.finish(with: Outcome(.failure(error))) }
    }
    return try await first.perform(in: context)
  }
}

/// An observation of a notification center.
// Sendable: a center may be used from any thread, and a lock guards the token.
private final class Subscription: @unchecked Sendable {
  private struct Token: @unchecked Sendable {
    var observer: (any NSObjectProtocol)?
  }

  private let center: NotificationCenter
  private let token = Lock(Token())

  init(in center: NotificationCenter) { self.center = center }

  func begin(for name: Notification.Name, _ body: @escaping @Sendable (Notification) -> Void) {
    let begun = Token(
      observer: center.addObserver(forName: name, object: nil, queue: nil, using: body))
    token.withLock { $0 = begun }
  }

  func end() {
    let ended = token.withLock { token in
      defer { token = Token() }
      return token
    }
    if let observer = ended.observer { center.removeObserver(observer) }
  }
}
