/// An action of the package at a set time, unless it is removed before.
///
/// A subclass defines the action. A ``DeadlineTimer`` keeps the deadline until its time is reached
/// or it is removed.
@usableFromInline class Deadline: @unchecked Sendable {
  // Sendable: only the timer uses `position`, with its lock held. Subclasses guard what they add.
  /// The index in the timer's heap; -1 outside.
  fileprivate(set) final var position = -1

  @usableFromInline init() {}

  /// Called once when the time is reached, on the timer's thread.
  ///
  /// That thread serves the whole process, so an override neither waits nor calls user code. It
  /// passes such work to ``HandlerThreads``.
  func reached() {}

  /// Whether it may hold the last reference to a user's value. Such a value must not be released on
  /// the timer's thread.
  var holdsUserValues: Bool { false }
}

/// A priority queue of deadlines, the earliest first.
///
/// A binary heap in which each deadline stores its position, so that removing one takes O(log *n*).
struct DeadlineHeap: Sendable {
  private struct Entry: Sendable {
    /// In nanoseconds, on the clock of ``EventTime``.
    let time: Int64
    let deadline: Deadline
  }

  private var entries: [Entry] = []

  var count: Int { entries.count }

  /// The time of the earliest deadline.
  var earliest: Int64? { entries.first?.time }

  /// - Precondition: The deadline is not in a heap.
  mutating func insert(_ deadline: Deadline, at time: Int64) {
    precondition(deadline.position < 0, "the deadline is already pending")
    entries.append(Entry(time: time, deadline: deadline))
    moveUp(from: entries.count - 1)
  }

  /// - Returns: The deadline, for the caller to release; nil if it is not in the heap.
  mutating func remove(_ deadline: Deadline) -> Deadline? {
    let position = deadline.position
    if position < 0 { return nil }
    let last = entries.removeLast()
    if position < entries.count {
      let time = entries[position].time
      entries[position] = last
      if last.time < time { moveUp(from: position) } else { moveDown(from: position) }
    }
    deadline.position = -1
    return deadline
  }

  /// Removes the earliest deadline if its time is reached.
  mutating func removeFirst(at now: Int64) -> Deadline? {
    guard let first = entries.first, first.time <= now else { return nil }
    return remove(first.deadline)
  }

  private mutating func moveUp(from start: Int) {
    var position = start
    let entry = entries[position]
    while position > 0 {
      let parent = (position - 1) / 2
      if entries[parent].time <= entry.time { break }
      place(entries[parent], at: position)
      position = parent
    }
    place(entry, at: position)
  }

  private mutating func moveDown(from start: Int) {
    var position = start
    let entry = entries[position]
    while true {
      var child = 2 * position + 1
      if child >= entries.count { break }
      if child + 1 < entries.count, entries[child + 1].time < entries[child].time { child += 1 }
      if entry.time <= entries[child].time { break }
      place(entries[child], at: position)
      position = child
    }
    place(entry, at: position)
  }

  private mutating func place(_ entry: Entry, at position: Int) {
    entries[position] = entry
    entry.deadline.position = position
  }
}
