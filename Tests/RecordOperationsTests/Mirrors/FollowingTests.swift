import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import RecordOperations
import SQLiteSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FollowingTests {
  private func end(_ run: OperationRun<Void>) async {
    run.cancel()
    #expect(await run.outcome.isCancelled)
    _ = await run.lateOutcome
  }

  @Test func `M11: an edit of another connection causes a round`() async throws {
    let pair = try MirrorPair()
    try await pair.local.save(record("1", ["title": "Emma"]))
    var states = pair.mirror.states.makeAsyncIterator()
    let run = pair.mirror.following(atLeastEvery: .seconds(3_600)).start()
    while let state = await states.next(), !state.hasEnded {}
    #expect(try await pair.base.record(id("1")) != nil)
    let program = SQLiteRecordDatabase(pair.local.path)
    try await program.write { try $0.execute("UPDATE Book SET title = 'Sanditon'") }
    // The first hint may have caused another round before.
    while try await pair.base.record(id("1"))?["title"] != "Sanditon" { _ = await states.next() }
    await end(run)
  }

  @Test func `M11: a hint of the remote database causes a round`() async throws {
    let folder = try TemporaryFolder()
    let remote = SQLiteRecordDatabase(folder.file("remote.sqlite"))
    let local = SQLiteRecordDatabase(folder.file("local.sqlite"))
    let mirror = RecordMirror(of: ["Book"], in: local, with: remote)
    try await remote.save(record("1", ["title": "Emma"]))
    var changes = mirror.changes.makeAsyncIterator()
    let run = mirror.following(atLeastEvery: .seconds(3_600)).start()
    guard case .saved(let first)? = await changes.next() else {
      Issue.record("the first change must be a saved record")
      return await end(run)
    }
    #expect(first["title"] == "Emma")
    // From another connection, as another program would.
    try await SQLiteRecordDatabase(folder.file("remote.sqlite")).write {
      try $0.execute("UPDATE Book SET title = 'Sanditon'")
    }
    guard case .saved(let second)? = await changes.next() else {
      Issue.record("the second change must be a saved record")
      return await end(run)
    }
    #expect(second["title"] == "Sanditon")
    await end(run)
  }

  @Test func `M7: a hint during a round causes one more round`() async throws {
    let edits = Lock(0)
    let holder = Lock<SQLiteRecordDatabase?>(nil)
    let pair = try MirrorPair { request, _ in
      guard case .modify = request, edits.withLock({ $0 }) == 0 else { return nil }
      edits.withLock { $0 += 1 }
      // After the unsent edits have been read, and before the end of the round.
      _ = try? await holder.withLock(\.self)?.save(record("2", ["title": "Emma"]))
      return nil
    }
    holder.withLock { $0 = pair.local }
    try await pair.local.save(record("1", ["title": "Emma"]))
    let base = pair.base
    let run = pair.mirror.following(atLeastEvery: .seconds(3_600)).start()
    while try await base.record(id("2")) == nil { await Task.yield() }
    await end(run)
  }

  @Test func `M8: without hints, rounds follow at the interval`() async throws {
    let pair = try MirrorPair()
    let clock = ManualClock()
    var states = pair.mirror.states.makeAsyncIterator()
    let environment = OperationEnvironment(clock: clock)
    let run = pair.mirror.following(atLeastEvery: .seconds(60)).start(in: environment)
    while let state = await states.next(), !state.hasEnded {}
    try await pair.base.save(record("1", ["title": "Emma"]))
    while try await pair.local.record(id("1")) == nil {
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(60))
      while let state = await states.next(), !state.hasEnded {}
    }
    await end(run)
  }

  @Test func `M8: a database that is unavailable is tried again, and local edits go on`()
    async throws
  {
    let isDown = Lock(true)
    let pair = try MirrorPair(retries: RetryPolicy(attempts: 1)) { _, _ in
      isDown.withLock(\.self)
        ? .refusing(RecordError(.unavailable("offline"), retryAfter: .seconds(7))) : nil
    }
    let clock = ManualClock()
    var states = pair.mirror.states.makeAsyncIterator()
    let environment = OperationEnvironment(clock: clock)
    let run = pair.mirror.following(atLeastEvery: .seconds(3_600)).start(in: environment)
    var delay: Duration?
    while delay == nil, let state = await states.next() {
      if case .waiting(let advised, _) = state { delay = advised }
    }
    #expect(delay == .seconds(7))
    #expect(pair.mirror.state.isWaiting)
    try await pair.local.save(record("1", ["title": "Emma"]))
    #expect(try await pair.local.record(id("1")) != nil)
    isDown.withLock { $0 = false }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(7))
    while try await pair.base.record(id("1")) == nil { _ = await states.next() }
    await end(run)
  }

  @Test func `M8: a database gets the delay that it asks for, whatever is edited meanwhile`()
    async throws
  {
    let pushes = Lock(0)
    let pair = try MirrorPair(retries: RetryPolicy(attempts: 1)) { request, _ in
      guard case .modify = request else { return nil }
      pushes.withLock { $0 += 1 }
      return .failing { _ in RecordError(.unavailable("busy"), retryAfter: .seconds(30)) }
    }
    try await pair.local.save(record("1", ["title": "Emma"]))
    let remote = HintingDatabase(pair.remote)
    let mirror = RecordMirror(
      of: ["Book"], in: pair.local, with: remote, retries: RetryPolicy(attempts: 1))
    let clock = ManualClock()
    var states = mirror.states.makeAsyncIterator()
    let run = mirror.following(atLeastEvery: .seconds(3_600))
      .start(in: OperationEnvironment(clock: clock))
    while let state = await states.next(), !state.isWaiting {}
    await clock.waitForSleepers(1)
    for number in 0..<3 {
      try await pair.local.save(record("1", ["title": .string("\(number)")]))
      remote.hint()
    }
    // Long enough for another push, if a hint caused one.
    let deadline = ContinuousClock.now + .milliseconds(500)
    while pushes.withLock(\.self) == 1, ContinuousClock.now < deadline { await Task.yield() }
    #expect(pushes.withLock(\.self) == 1)
    clock.advance(by: .seconds(30))
    while let state = await states.next(), !state.isWaiting {}
    #expect(pushes.withLock(\.self) == 2)
    await end(run)
  }

  @Test func `M8: a failed account request is a state, and rounds go on after it`() async throws {
    let isDown = Lock(true)
    let pair = try MirrorPair { request, _ in
      guard case .accountStatus = request, isDown.withLock(\.self) else { return nil }
      return .refusing(RecordError(.notPermitted("no")))
    }
    let clock = ManualClock()
    var states = pair.mirror.states.makeAsyncIterator()
    let run = pair.mirror.following(atLeastEvery: .seconds(60))
      .start(in: OperationEnvironment(clock: clock))
    guard case .failing? = await states.next() else {
      Issue.record("expected .failing, found \(pair.mirror.state)")
      return
    }
    isDown.withLock { $0 = false }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(60))
    while let state = await states.next(), !state.hasEnded {}
    await end(run)
  }

  @Test func `an error of the deciding closure ends the mirror's rounds`() async throws {
    struct Undecided: Error {}
    let pair = try MirrorPair(conflicts: .decided { _ in throw Undecided() })
    try await pair.base.save(record("1", ["title": "Emma"]))
    try await pair.sync()
    try await pair.edit("1", local: ["title": "mine"], remote: ["title": "theirs"])
    let outcome = await pair.mirror.following().run()
    #expect(outcome.error is Undecided)
  }

  @Test func `M8: without an account there are no rounds`() async throws {
    let folder = try TemporaryFolder()
    let remote = SQLiteRecordDatabase(
      folder.file("missing.sqlite"), SQLiteOptions(access: .existing))
    let mirror = RecordMirror(
      of: ["Book"], in: SQLiteRecordDatabase(folder.file()), with: remote)
    var states = mirror.states.makeAsyncIterator()
    let run = mirror.following(atLeastEvery: .seconds(3_600)).start()
    guard case .noAccount? = await states.next() else {
      Issue.record("expected .noAccount, found \(mirror.state)")
      return
    }
    #expect(try folder.names == [])
    await end(run)
  }

  @Test func `M8: a permanent failure is a state with the time of its beginning`() async throws {
    let pair = try MirrorPair { request, _ in
      if case .changes = request { .refusing(RecordError(.notPermitted("no"))) } else { nil }
    }
    var first: Date?
    for _ in 0..<3 {
      #expect((await pair.mirror.sync.run().error as? RecordError)?.name == "notPermitted")
      guard case .failing(let error as RecordError, let since) = pair.mirror.state else {
        Issue.record("expected .failing, found \(pair.mirror.state)")
        return
      }
      #expect(error.name == "notPermitted")
      #expect(first == nil || first == since)
      first = since
    }
  }

  /// An error whose release runs code.
  private final class ReleasedError: Error {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    deinit { body() }
  }

  @Test func `an error that the state contains is released outside of the lock`() async throws {
    let mirror = Lock<RecordMirror?>(nil)
    let released = Lock(0)
    let pair = try MirrorPair(
      conflicts: .decided { _ in
        throw ReleasedError {
          _ = mirror.withLock(\.self)?.state
          released.withLock { $0 += 1 }
        }
      })
    mirror.withLock { $0 = pair.mirror }
    try await pair.base.save(record("1", ["title": "Emma"]))
    try await pair.sync()
    try await pair.edit("1", local: ["title": "mine"], remote: ["title": "theirs"])
    for _ in 0..<3 { _ = await pair.mirror.sync.run() }
    // The state contains the last one.
    #expect(released.withLock(\.self) == 2)
    mirror.withLock { $0 = nil }
  }

  @Test func `account statuses are the current one and each that differs`() async throws {
    let statuses = Lock<[AccountStatus?]>([.available, .available, nil, nil, .noAccount])
    let database = AccountDatabase(statuses: statuses.withLock(\.self))
    var found: [AccountStatus] = []
    for await status in database.accountStatuses(checkingEvery: .zero) {
      found.append(status)
      if found.count == 3 { break }
    }
    #expect(found == [.available, .couldNotDetermine, .noAccount])
  }

  @Test func `hints follow commits of any connection, and a new file`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    var hints = database.hints(in: .default).makeAsyncIterator()
    try await database.save(record("1", ["title": "Emma"]))
    #expect(await hints.next() != nil)
    try await SQLiteRecordDatabase(folder.file()).save(record("2", ["title": "Emma"]))
    #expect(await hints.next() != nil)
    await database.close()
    for name in try folder.names { try FileManager.default.removeItem(atPath: folder.file(name)) }
    try await SQLiteRecordDatabase(folder.file()).save(record("3", ["title": "Emma"]))
    #expect(await hints.next() != nil)
  }
}

extension MirrorState {
  fileprivate var hasEnded: Bool { if case .idle(.some) = self { true } else { false } }
  fileprivate var isWaiting: Bool { if case .waiting = self { true } else { false } }
}

/// A database whose account status changes with each request.
private final class AccountDatabase: ForwardingDatabase {
  let base = MemoryRecordDatabase()
  private let statuses: Lock<[AccountStatus?]>

  init(statuses: [AccountStatus?]) { self.statuses = Lock(statuses) }

  func accountStatus() async throws -> AccountStatus {
    let status = statuses.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
    guard let status else { throw RecordError(.unavailable("busy")) }
    return status
  }
}

/// A database that hints at changes whenever a test says so.
private final class HintingDatabase: ForwardingDatabase, ChangeHinting {
  let base: FaultyRecordDatabase
  private let stream = AsyncStream.makeStream(of: Void.self)

  init(_ base: FaultyRecordDatabase) { self.base = base }

  func hint() { stream.continuation.yield(()) }
  func hints(in zone: RecordZone) -> AsyncStream<Void> { stream.stream }
}
