import CompositeOperations

/// A reference implementation of a pool. Reads the entries of a run on one thread, and finds the
/// violated rules.
struct PoolJudge {
  private enum Fate {
    case wantsRoom, waits, runs, unwelcome
    case refused(PoolRefusalError.Reason)
  }

  let trial: PoolTrial
  private(set) var findings: [String] = []
  private var fates: [Int: Fate] = [:]
  private var began: Set<Int> = []
  private var returned: [Int: Bool] = [:]
  private var ends: [Int: PoolTrial.Ended] = [:]
  private var cancelled: Set<Int> = []
  private var cancelledSubmitters: Set<Int> = []
  /// The operations that wait for a place, in FIFO order. Nil is the position of a barrier that
  /// ended without having begun: operations before it still begin before operations after it.
  private var queue: [Int?] = []
  /// The operations whose submitters wait for room, in FIFO order.
  private var line: [Int] = []
  private var running: Set<Int> = []
  private var limit: Int
  private var isPaused = false
  private var isClosed = false
  private var entryCount = 0
  private var lastTimeEmpty = 0
  private var drains: [Int: Int] = [:]

  init(_ trial: PoolTrial) {
    self.trial = trial
    limit = trial.width
  }

  private var waiting: [Int] { queue.compactMap(\.self) }

  private mutating func removeFromQueue(_ index: Int) {
    queue = queue.compactMap { place in
      if place != index { return .some(place) }
      return trial.jobs[index].isBarrier && !running.contains(index) ? .some(nil) : nil
    }
  }

  /// The operations that have been taken and have not ended.
  var left: [Int] {
    fates.keys.filter { !trial.jobs[$0].isUnwelcome && ends[$0] == nil }.sorted()
  }
  var isOver: Bool { left.isEmpty && drains.isEmpty }

  private mutating func expect(_ isRight: Bool, _ rule: String) {
    if !isRight { findings.append("entry \(entryCount): \(rule)") }
  }

  mutating func compare(_ counts: (running: Int, waiting: Int)) {
    let (running, waiting) = (running.count, waiting.count)
    expect(
      counts.running == running && counts.waiting == waiting,
      "W2: \(counts) run and wait, and \((running, waiting)) should")
  }

  // MARK: Entries

  mutating func read(_ entry: PoolTrial.Entry) {
    entryCount += 1
    switch entry {
    case .submitted(let index): submit(index)
    case .began(let index):
      let isAdmitted = running.contains(index) && !cancelled.contains(index)
      expect(isAdmitted && began.insert(index).inserted, "W2: \(index) began")
    case .returned(let index, let isCancelled):
      returned[index] = isCancelled
      expect(
        isCancelled == cancelled.contains(index), "W6: \(index) saw a cancellation: \(isCancelled)")
    case .left(let index, let end): leave(index, end)
    case .cancelled(let index): cancel(index)
    case .submitterCancelled(let index):
      cancelledSubmitters.insert(index)
      if case .wantsRoom? = fates[index] { cancel(index) }
    case .allCancelled:
      for index in line + waiting + running.sorted() { cancel(index) }
    case .paused: isPaused = true
    case .resumed: isPaused = false
    case .width(let width): limit = width
    case .closed(let closing):
      isClosed = true
      if closing == .rejectingPending {
        for index in line + waiting { fates[index] = .refused(.closed) }
        line = []
        queue = []
      }
    case .drainBegan(let number): drains[number] = entryCount
    case .drained(let number):
      expect(
        lastTimeEmpty >= drains[number] ?? .max, "W7: drain returned, and the pool was not empty")
      drains[number] = nil
    }
    advance()
    if line.isEmpty, waiting.isEmpty, running.isEmpty { lastTimeEmpty = entryCount }
  }

  private mutating func submit(_ index: Int) {
    expect(fates[index] == nil, "W1: \(index) was submitted twice")
    let job = trial.jobs[index]
    if job.isUnwelcome {
      fates[index] = .unwelcome
    } else if isClosed {
      fates[index] = .refused(.closed)
    } else if line.isEmpty, hasRoom(job) {
      enqueue(index)
    } else {
      switch trial.overflow {
      case .wait where job.canWait:
        line.append(index)
        fates[index] = .wantsRoom
        if cancelledSubmitters.contains(index) { cancel(index) }
      case .wait, .refuse: fates[index] = .refused(.full)
      case .dropOldest, .dropNewest:
        let victim = trial.overflow == .dropOldest ? waiting.first : waiting.last
        if let victim {
          removeFromQueue(victim)
          fates[victim] = .refused(.dropped)
          enqueue(index)
        } else {
          fates[index] = .refused(.full)
        }
      }
    }
  }

  private mutating func enqueue(_ index: Int) {
    queue.append(index)
    fates[index] = .waits
  }

  private mutating func cancel(_ index: Int) {
    if ends[index] != nil { return }
    cancelled.insert(index)
    removeFromQueue(index)
    line.removeAll { $0 == index }
  }

  private mutating func leave(_ index: Int, _ end: PoolTrial.Ended) {
    expect(ends[index] == nil, "W8: \(index) left twice")
    let expected = expectedEnd(of: index)
    expect(end == expected, "W1: \(index) ended in \(end), and should in \(expected)")
    ends[index] = end
    running.remove(index)
  }

  private func expectedEnd(of index: Int) -> PoolTrial.Ended {
    if cancelled.contains(index) { return .cancelled }
    switch fates[index] {
    case .refused(let reason)?: return .refused(reason)
    case .unwelcome?: return .unwelcome
    case .runs?, .waits?, .wantsRoom?, nil:
      return switch trial.jobs[index].end {
      case .value: .value(index)
      case .error: .error
      case .cancellation: .cancelled
      }
    }
  }

  // MARK: Rules

  private var hasPlace: Bool {
    !isPaused && running.count < limit && !running.contains { trial.jobs[$0].isBarrier }
  }

  private func hasRoom(_ job: PoolTrial.Job) -> Bool {
    waiting.count < trial.capacity
      || waiting.isEmpty && hasPlace && (!job.isBarrier || running.isEmpty)
  }

  private var next: Int? {
    guard hasPlace else { return nil }
    // Only operations before the first barrier, ended or waiting, can begin.
    let rest = queue.drop { $0 == nil }
    let front = rest.prefix { $0.map { !trial.jobs[$0].isBarrier } ?? false }.compactMap(\.self)
    guard let most = front.map({ trial.jobs[$0].priority }).max() else {
      return running.isEmpty ? rest.first ?? nil : nil
    }
    let best = front.filter { trial.jobs[$0].priority == most }
    return trial.order == .fifo ? best.first : best.last
  }

  private mutating func advance() {
    while true {
      while let index = next {
        running.insert(index)
        removeFromQueue(index)
        fates[index] = .runs
      }
      guard let first = line.first, hasRoom(trial.jobs[first]) else { return }
      line.removeFirst()
      enqueue(first)
    }
  }

  mutating func finish(_ handles: [Int: PoolTrial.Ended]) {
    for (index, end) in handles {
      // The end of a run that the delegate refused is not reported, and the run can be cancelled.
      if ends[index] == nil, end == .cancelled, cancelled.contains(index) { continue }
      let expected = ends[index] ?? .unwelcome
      expect(end == expected, "W1: the handle of \(index) says \(end), and should \(expected)")
    }
    let count = fates.count
    expect(handles.count == count, "W1: \(count) were submitted")
  }
}
