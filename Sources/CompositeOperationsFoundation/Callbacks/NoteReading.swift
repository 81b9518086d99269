internal import CompositeOperations
internal import Foundation

/// Reads notifications one behind another until one says something.
///
/// So there is never a second value that nobody would see, however many threads post.
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

  /// Reads one, and what comes meanwhile; or leaves it to whoever reads already.
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

  /// Ends it, unless it has ended. What is being read now is waited for, and counts if it says something.
  func end(in outcome: Outcome<Success>) {
    if machine.withLock({ $0.ended(in: outcome) }) { finish(outcome) }
  }
}

extension NoteReading {
  // Sendable, because whoever is given it to read it has it alone.
  private struct Note: @unchecked Sendable {
    let notification: Notification
  }

  /// Unread notifications are returned, so that they are freed outside the lock.
  private struct StateMachine: Sendable {
    /// Notifications that will not be read, and an end that does not count.
    struct Unread: Sendable {
      var notes: [Note] = []
      var end: Outcome<Success>?
    }

    private enum State: Sendable {
      /// Nobody reads.
      case waiting
      /// One is read; behind it come others, or the end.
      case reading(notes: [Note], end: Outcome<Success>?)
      /// Something was found, or is looked for no longer.
      case over
    }

    enum Action: Sendable {
      case read(Note)
      case finish(Outcome<Success>, Unread)
      case wait
    }

    private var state = State.waiting

    /// - Returns: Whether it is to be read now.
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

    /// - Returns: Whether it has ended so now.
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
