internal import CompositeOperations

/// The places for runs in a worker. A run that only waits gives its place back meanwhile.
final class WorkerSlots: Sendable {
  private struct State: Sendable {
    var free: Int
    var waiters: [Latch] = []
    /// Opened when that many places are free that no run waits for.
    var worker: (latch: Latch, count: Int)?
    /// Opened by progress of a suspect.
    var progress: Latch?
    /// Whether the worker begins no more runs, and its runs no more steps.
    var isEnding = false
  }

  private let state: Lock<State>

  private let count: Int

  init(_ count: Int) {
    self.count = count
    state = Lock(State(free: count))
  }

  var free: Int { state.withLock { $0.free } }

  /// Whether no run has a place. Some may wait without one.
  var isIdle: Bool { free == count }

  /// Returns a latch that opens when the last run gives its place back, or a run has stored something. It is made
  /// before a suspect begins.
  func latchForProgress() -> Latch {
    let latch = Latch()
    state.withLock { $0.progress = latch }
    return latch
  }

  var isEnding: Bool { state.withLock(\.isEnding) }

  /// Ends the waits of the worker, so that it begins no more runs.
  func beginEnd() {
    let latches = state.withLock { state in
      state.isEnding = true
      return [state.worker?.latch, state.progress]
    }
    for latch in latches { latch?.open() }
  }

  /// Takes a place; nil if none is free.
  func takeIfFree() -> Slot? {
    let isTaken = state.withLock { state in
      if state.free == 0 { return false }
      state.free -= 1
      return true
    }
    return isTaken ? Slot(of: self) : nil
  }

  /// Returns a latch that opens when some places are free. There is one at a time.
  func latch(forFree count: Int) -> Latch {
    let latch = Latch()
    let isOpen = state.withLock { state in
      state.worker = (latch, count)
      return state.free >= count || state.isEnding
    }
    if isOpen { latch.open() }
    return latch
  }

  /// Waits until some places are free, or the task is cancelled.
  func wait(forFree count: Int) async {
    if free < count, !isEnding { await latch(forFree: count).wait() }
  }

  fileprivate func giveBack() {
    let latches = state.withLock { state -> [Latch?] in
      if !state.waiters.isEmpty { return [state.waiters.removeFirst()] }
      state.free += 1
      let progress = state.free == count ? state.progress.take() : nil
      guard let worker = state.worker, state.free >= worker.count else { return [progress] }
      return [progress, worker.latch]
    }
    for latch in latches { latch?.open() }
  }

  /// Takes a place, before the runs that have not begun.
  ///
  /// Not cancellable: a cancelled run needs its place to end.
  fileprivate func takeAgain() async {
    let latch = Latch()
    let isTaken = state.withLock { state in
      if state.free > 0 {
        state.free -= 1
        return true
      }
      state.waiters.append(latch)
      return false
    }
    if !isTaken { await latch.waitIgnoringCancellation() }
  }

  /// The place of one run.
  final class Slot: Sendable {
    private let slots: WorkerSlots
    /// How many parts of the run wait.
    private let waiting = Lock(0)
    private let isEnded = Lock(false)

    fileprivate init(of slots: WorkerSlots) { self.slots = slots }

    /// Notes that the run has stored a step or a part of it, so that it is no suspect any more.
    func progressed() { slots.state.withLock { $0.progress.take() }?.open() }

    /// Whether the run begins no more steps in this process.
    var isEnding: Bool { slots.isEnding }

    /// Ends the use of the place. Has no effect when it has ended already.
    func end() {
      let isFirst = isEnded.withLock { isEnded in
        defer { isEnded = true }
        return !isEnded
      }
      if isFirst { slots.giveBack() }
    }

    /// Performs a wait of a part of the run, without the place.
    func waiting<Value>(_ body: () async throws -> Value) async throws -> Value {
      let isFirst = waiting.withLock { count in
        count += 1
        return count == 1
      }
      if isFirst { slots.giveBack() }
      let result: Result<Value, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      let isLast = waiting.withLock { count in
        count -= 1
        return count == 0
      }
      if isLast { await slots.takeAgain() }
      return try result.get()
    }
  }
}

/// The place of a run in its worker.
struct WorkerPlace: Sendable {
  let slot: WorkerSlots.Slot
  /// The flows that the worker runs.
  let flows: Set<String>
}
