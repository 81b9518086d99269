internal import CompositeOperations
internal import Foundation

/// Reads notifications one after another, until one has a result.
///
/// So there is never a second result that would be lost, however many threads post.
final class NoteReading<Success: Sendable>: Sendable {
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
  func add(_ notification: Notification) {
    var next = Note(notification: notification)
    guard machine.withLock({ $0.came(next) }) else { return }
    while true {
      if let success = read(next.notification) {
        let unread = machine.withLock { $0.found() }
        return withExtendedLifetime(unread) { finish(.result(success)) }
      }
      switch machine.withLock({ $0.foundNothing() }) {
      case .read(let note): next = note
      case .finish(let outcome, let unread):
        return withExtendedLifetime(unread) { finish(outcome) }
      case .wait: return
      }
    }
  }

  /// Ends the reading, unless it has ended. A notification that is being read is waited for, and
  /// its result takes precedence over the outcome.
  func end(in outcome: Outcome<Success>) {
    if machine.withLock({ $0.ended(in: outcome) }) { finish(outcome) }
  }
}

extension NoteReading {
  // Sendable: only the thread that reads it has access to it.
  private struct Note: @unchecked Sendable {
    let notification: Notification
  }

  /// Returns unread notifications, so that they are freed outside the lock.
  private struct StateMachine: Sendable {
    /// Notifications that will not be read, and an outcome that does not count.
    struct Unread: Sendable {
      var notes: [Note] = []
      var end: Outcome<Success>?
    }

    private enum State: Sendable {
      /// No notification is being read.
      case waiting
      /// A notification is being read. The others follow, and then the end.
      case reading(notes: [Note], end: Outcome<Success>?)
      /// There is a result, or the reading has ended.
      case over
    }

    enum Action: Sendable {
      case read(Note)
      case finish(Outcome<Success>, Unread)
      case wait
    }

    private var state = State.waiting

    /// - Returns: Whether to read the notification now.
    mutating func came(_ note: Note) -> Bool {
      switch state {
      case .waiting:
        state = .reading(notes: [], end: nil)
        return true
      case .reading(let notes, let end):
        state = .reading(notes: notes + [note], end: end)
        return false
      case .over: return false
      }
    }

    mutating func found() -> Unread {
      guard case .reading(let notes, let end) = state else {
        preconditionFailure("found() was called while no notification is being read")
      }
      state = .over
      return Unread(notes: notes, end: end)
    }

    mutating func foundNothing() -> Action {
      switch state {
      case .reading(let notes, let end?):
        state = .over
        return .finish(end, Unread(notes: notes))
      case .reading(var notes, nil):
        guard !notes.isEmpty else {
          state = .waiting
          return .wait
        }
        let note = notes.removeFirst()
        state = .reading(notes: notes, end: nil)
        return .read(note)
      case .waiting, .over:
        preconditionFailure("foundNothing() was called while no notification is being read")
      }
    }

    /// - Returns: Whether the reading ends with this outcome now.
    mutating func ended(in outcome: Outcome<Success>) -> Bool {
      switch state {
      case .waiting:
        state = .over
        return true
      case .reading(let notes, nil):
        state = .reading(notes: notes, end: outcome)
        return false
      case .reading, .over: return false
      }
    }
  }
}
