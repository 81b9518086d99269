import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct ManualClockTests {
  /// Starts sleepers as tasks of one executor, and records the ones that wake.
  private struct Dormitory {
    let clock = ManualClock()
    let executor = SeededExecutor(seed: 1)
    let woken = Log<String>()

    /// Starts a sleeper, and returns its task when it sleeps or has woken.
    @discardableResult func sleep(_ name: String, seconds: Int) -> Task<Void, Never> {
      let task = Task(executorPreference: executor) { [clock, woken] in
        do {
          try await clock.sleep(until: .seconds(seconds))
          woken.add(name)
        } catch {
          woken.add("\(name): \(type(of: error))")
        }
      }
      executor.drain()
      return task
    }

    func advance(by seconds: Int) {
      clock.advance(by: .seconds(seconds))
      executor.drain()
    }
  }

  @Test func `the time changes only when it is advanced`() {
    let clock = ManualClock()
    #expect(clock.now.offset == .zero)
    clock.advance(by: .seconds(3))
    clock.advance(by: .zero)
    #expect(clock.now.offset == .seconds(3))
    clock.advance(to: .seconds(5))
    clock.advance(to: .seconds(1))
    #expect(clock.now.offset == .seconds(5))
    #expect(clock.now.duration(to: .seconds(7)) == .seconds(2))
  }

  @Test func `sleepers wake at their deadline, and no earlier`() {
    let room = Dormitory()
    for (name, seconds) in [("c", 3), ("a", 1), ("b", 2), ("d", 4)] {
      room.sleep(name, seconds: seconds)
    }
    #expect(room.clock.sleeperCount == 4)
    #expect(room.clock.nextDeadline?.offset == .seconds(1))
    room.advance(by: 1)
    #expect(room.woken.entries == ["a"])
    #expect(room.clock.nextDeadline?.offset == .seconds(2))
    room.clock.advance(by: .milliseconds(999))
    room.executor.drain()
    #expect(room.woken.entries == ["a"])
    room.advance(by: 1)
    #expect(room.woken.entries == ["a", "b"])
    room.advance(by: 100)
    #expect(Set(room.woken.entries) == ["a", "b", "c", "d"])
    #expect(room.clock.sleeperCount == 0)
    #expect(room.clock.nextDeadline == nil)
  }

  @Test func `one advance wakes sleepers by deadline, and in FIFO order for the same deadline`() {
    let clock = ManualClock()
    let woken = Log<Int>()
    let executor = InOrderExecutor()
    // The sleepers start in this order. The first digit is the deadline, the second digit is the
    // order among the sleepers with this deadline.
    for number in [31, 11, 21, 12, 32, 22, 13] {
      Task(executorPreference: executor) {
        try await clock.sleep(until: .seconds(number / 10))
        woken.add(number)
      }
      executor.drain()
    }
    clock.advance(by: .seconds(10))
    executor.drain()
    #expect(woken.entries == [11, 12, 13, 21, 22, 31, 32])
  }

  @Test func `a sleep until the current or an earlier time returns immediately`() async throws {
    let clock = ManualClock()
    clock.advance(by: .seconds(5))
    for seconds in [-1, 0, 4, 5] {
      try await clock.sleep(until: .seconds(seconds))
    }
    try await clock.sleep(for: .zero)
    #expect(clock.sleeperCount == 0)
  }

  @Test func `a sleeper that is cancelled throws, and the others keep sleeping`() {
    let room = Dormitory()
    room.sleep("a", seconds: 1)
    let cancelled = room.sleep("b", seconds: 2)
    room.sleep("c", seconds: 3)
    cancelled.cancel()
    room.executor.drain()
    #expect(room.woken.entries == ["b: CancellationError"])
    #expect(room.clock.sleeperCount == 2)
    cancelled.cancel()
    room.advance(by: 10)
    #expect(Set(room.woken.entries.dropFirst()) == ["a", "c"])
    #expect(room.clock.sleeperCount == 0)
  }

  @Test func `a sleep of a cancelled task throws, and leaves no sleeper`()
    async
  {
    for seconds in [0, 1] {
      let clock = ManualClock()
      let task = Task {
        cancelCurrentTask()
        try await clock.sleep(for: .seconds(seconds))
      }
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(clock.sleeperCount == 0)
      #expect(clock.nextDeadline == nil)
    }
  }

  @Test func `a sleeper that is cancelled while it wakes returns or throws, and leaves no sleeper`()
    async
  {
    for _ in 0..<300 {
      let clock = ManualClock()
      let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
      await clock.waitForSleepers(1)
      async let cancellation: Void = sleeper.cancel()
      clock.advance(by: .seconds(1))
      await cancellation
      if case .failure(let error) = await sleeper.result { #expect(error is CancellationError) }
      #expect(clock.sleeperCount == 0)
    }
  }

  @Test func `waiting for sleepers ends at the given number, even if they already sleep`() async {
    let clock = ManualClock()
    let sleepers = (1...3).map { seconds in
      Task { try? await clock.sleep(for: .seconds(seconds)) }
    }
    await clock.waitForSleepers(3)
    await clock.waitForSleepers(3)
    await clock.waitForSleepers(0)
    #expect(clock.sleeperCount == 3)
    clock.advance(by: .seconds(3))
    for sleeper in sleepers { await sleeper.value }
  }

  @Test func `advancing a clock by a negative duration is a programming error`() async {
    await #expect(processExitsWith: .failure) { ManualClock().advance(by: .seconds(-1)) }
  }

  @Test func `an instant is created from its offset from the beginning`() {
    let clock = ManualClock()
    clock.advance(by: .seconds(5))
    #expect(clock.now == ManualClock.Instant(offset: .seconds(5)))
  }
}

extension ManualClock.Instant {
  /// The instant a number of seconds after the beginning of a clock.
  fileprivate static func seconds(_ count: Int) -> Self {
    ManualClock().now.advanced(by: .seconds(count))
  }
}
