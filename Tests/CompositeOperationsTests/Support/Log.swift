import CompositeOperations
import CompositeOperationsTestKit
import Synchronization

/// A list that bodies on any thread add entries to.
final class Log<Entry: Sendable>: Sendable {
  private let lock = Lock<[Entry]>([])

  var entries: [Entry] { lock.withLock { $0 } }
  var count: Int { entries.count }
  /// Adds an entry that is created under the lock, when its place in the list is certain.
  func add(_ entry: @Sendable () -> Entry) { lock.withLock { $0.append(entry()) } }
  func add(_ entry: Entry) { lock.withLock { $0.append(entry) } }
  /// Adds an entry, and returns its number, from 1.
  func addNumbered(_ entry: Entry) -> Int {
    lock.withLock { entries in
      entries.append(entry)
      return entries.count
    }
  }
  func clear() { lock.withLock { $0 = [] } }
}

extension Log<Int> {
  /// Adds the number of the new entry, from 1, and returns it.
  func addNumber() -> Int {
    lock.withLock { entries in
      entries.append(entries.count + 1)
      return entries.count
    }
  }
}

/// Counts the bodies inside a section, and the maximum that was inside at once.
final class Crowd: Sendable {
  private let lock = Lock((now: 0, most: 0))

  var most: Int { lock.withLock { $0.most } }
  var now: Int { lock.withLock { $0.now } }

  func enter() {
    lock.withLock { crowd in
      crowd.now += 1
      crowd.most = max(crowd.most, crowd.now)
    }
  }

  func leave() { lock.withLock { $0.now -= 1 } }
}

extension Outcome {
  /// The outcome as text, for messages and comparisons.
  var kind: String {
    switch self {
    case .result(let value): "result \(value)"
    case .error(let error): "error \(error)"
    case .cancelled: "cancelled"
    }
  }
}

extension OperationEvent {
  /// The event as short text, without identities.
  var short: String {
    switch kind {
    case .created: "\(name) created"
    case .started: "\(name) started"
    case .childStarted: "\(name) started a child"
    case .waitingBegan(let wait): "\(name) waits for \(wait)"
    case .waitingEnded(let wait): "\(name) has waited for \(wait)"
    case .retryScheduled(let attempt, let delay, let error):
      "\(name) is retried, attempt \(attempt) after \(delay): \(error)"
    case .progressed(let completed, let total, let unit):
      "\(name) is at \(completed) of \(total ?? -1) \(unit ?? "-")"
    case .childrenExpected(let children): "\(name) expects \(children)"
    case .attributesSet: "\(name) sets attributes"
    case .logged(let level, let line): "\(name) says \(level) \(line)"
    case .cancellationRequested(let reason): "\(name) asked to cancel: \(reason ?? "-")"
    case .finishedAgain(let outcome): "\(name) finished again: \(outcome.kind)"
    case .abandonedBodyEnded(let outcome): "\(name) ended an abandoned body: \(outcome.kind)"
    case .ended(let outcome, let late):
      "\(name) ended: \(outcome.kind)" + (late.map { ", late: \($0.kind)" } ?? "")
    }
  }
}

extension RecordingObserver {
  /// The events as short text, without the expected children, which only progress needs.
  var short: [String] {
    events.filter { if case .childrenExpected = $0.kind { false } else { true } }.map(\.short)
  }
}

/// Returns the maximum number of earlier children that a child has overtaken.
///
/// Children are taken in order, but a thread can be preempted between taking a child and running
/// its first line. On several processors, a child can therefore overtake children in flight, but no
/// others.
func mostOvertaken(_ indices: [Int]) -> Int {
  var missing = Set(indices)
  var most = 0
  for index in indices {
    missing.remove(index)
    most = max(most, missing.count { $0 < index })
  }
  return most
}
