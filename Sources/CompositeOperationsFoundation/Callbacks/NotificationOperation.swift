public import CompositeOperations
public import Foundation

/// Waits for a notification.
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
/// It listens from the moment at which it is run: one that was posted before is not seen. What has it posted is
/// therefore best begun by the operation itself, which does so when it listens. It no longer listens when it has
/// ended, or was cancelled.
public struct NotificationOperation<Success: Sendable>: ComposableOperation {
  private let name: Notification.Name
  private let center: NotificationCenter
  private let begin: @Sendable () throws -> Void
  private let read: @Sendable (Notification) -> Success?

  /// - Parameters:
  ///   - name: What the notification is called.
  ///   - center: Where it is posted.
  ///   - begin: Begins what it is posted by. It is called as soon as the operation listens, and an error that it
  ///     throws ends the run, unless a notification has.
  ///   - read: What the run comes to; nil to wait for another one. It is called on the thread of whoever posts,
  ///     for one after another: what is posted during a call is read behind it, on the same thread.
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

  /// One that the name alone is enough for.
  ///
  /// - Parameters:
  ///   - name: What the notification is called.
  ///   - center: Where it is posted.
  ///   - begin: Begins what it is posted by, as soon as the operation listens.
  public init(
    _ name: Notification.Name, in center: NotificationCenter = .default,
    after begin: @escaping @Sendable () throws -> Void = {}
  ) where Success == Void {
    self.init(name, in: center, after: begin) { _ in () }
  }

  public func perform(in context: OperationContext) async throws -> Success {
    let subscription = Subscription(in: center)
    defer { subscription.end() }
    let first = SimpleOperation<Success>.withCallback { finish in
      let notes = NoteReading(by: read, finish: finish)
      finish.onCancel { notes.end(in: .cancelled) }
      subscription.begin(for: name) { notes.add($0) }
      do { try begin() } catch { notes.end(in: Outcome(.failure(error))) }
    }
    return try await first.perform(in: context)
  }
}

/// Listens, from one call to another.
// Sendable, because a center may be used from any thread, and the rest is behind a lock.
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
