import CompositeOperations
import CompositeOperationsTestKit
import DurableOperations
import DurableOperationsTestKit
import DurableRecords
import DurableTestSupport
import Foundation
import RecordOperations
import SQLiteSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct CommittedStepTests {
  /// The error of the only step of a flow.
  private func stepError(
    _ flow: some DurableSequence, _ store: RunStore
  ) async throws -> (any Error)? {
    let outcome = await DurableOperation(flow, named: "r", in: store).run()
    return (outcome.error as? SequentialOperationError)?.cause ?? outcome.error
  }

  @Test(arguments: [nil, 1])
  func `J25: after a crash at any commit, the file has the records of the finished steps only`(
    keeping: Int?
  ) async throws {
    let flow = Bookings(.own, .failing, .parts, .own, keeping: keeping)
    for number in 0..<100 {
      let hasCrashed = try await withBookings { file, database in
        let hasCrashed = try await crash(flow, file, commit: number / 2 + 1, number % 2 == 1)
        let store = RunStore.sqlite(file)
        if let run = try await store.backend.run("r"), !run.state.hasEnded {
          let keys = try await store.backend.parts(of: "r", last: nil).keys.map(\.key)
          let expected = flow.expectedBookings(finished: run.stepCount, keys: keys)
          #expect(try await database.bookings == expected, "\(number)")
          #expect(try await database.bookingCount == expected.count, "\(number)")
          let state = try JSONRunCoder().decode(Bookings.self, from: run.sequence)
          #expect(state.results.count == flow.resultCount(finished: run.stepCount), "\(number)")
          let first = keeping.map { max(0, run.stepCount - $0 - 1) } ?? 0
          let kept = try await store.backend.steps(of: "r", last: nil).map(\.position)
          #expect(kept == Array(first..<run.stepCount), "\(number)")
        }
        let results = try await DurableOperation(flow, named: "r", in: store).run().get()
        #expect(results == [1, -1, 0, 0, 4], "\(number)")
        #expect(try await database.bookings == ["0", "2-0", "2-1", "3"], "\(number)")
        return hasCrashed
      }
      guard hasCrashed else {
        // The owner, the start, the claim, the steps and parts, and the end, each before and after.
        #expect(number >= 16)
        return
      }
    }
    Issue.record("the flow has too many commits")
  }

  /// Runs a flow in a process that ends at a commit.
  ///
  /// - Returns: Whether it has ended before the flow.
  private func crash(
    _ flow: Bookings, _ file: String, commit: Int, _ isAfter: Bool
  ) async throws -> Bool {
    let process = DisturbedStore(file)
    process.gate.begin(.stop(isAfter: isAfter, commit: commit))
    let outcome = await DurableOperation(flow, named: "r", in: process.store).run()
    return (outcome.error as? RunStoreError)?.reason == .closed
  }

  @Test func `J25: a crash hunt with files finds no crash that changes the records`() async throws {
    let folder = try CrashFolder()
    let flow = Bookings(.own, .failing, .parts, .own)
    let options = RunStoreOptions(durability: .normal)
    let crashes = try await CrashHunt(folder: folder.path).run(flow, options: options) { trial in
      let database = SQLiteRecordDatabase(try #require(trial.file))
      return try await Bookings.$database.withValue(database) {
        _ = try await trial.outcome
        return try await database.bookings
      }
    }
    #expect(crashes >= 16)
  }

  @Test(arguments: [OneStep.Step.plain, .keyedStep])
  func `J25: a step is one commit with its records, and its run ends in the result`(
    step: OneStep.Step
  ) async throws {
    try await withBookings { file, database in
      let commits = Lock(0)
      let store = RunStore.sqlite(file) { moment, _ in
        if moment == .beforeCommit { commits.withLock { $0 += 1 } }
      }
      let recorder = RecordingObserver()
      let flow = DurableOperation(OneStep(step), named: "r", in: store)
      let count = try await flow.observed(by: recorder).run().get()
      #expect(count == 1)
      #expect(
        recorder.outcomes.map { "\($0.name) \($0.outcome)" }.first == "CommittedStep result(1)")
      // The owner, the start, the claim before and after, the step, its key, and the end.
      #expect(commits.withLock { $0 } == (step == .plain ? 6 : 7))
      #expect(try await database.bookings == ["once"])
    }
  }

  @Test func `J25: an error rolls the records back, and is the outcome of the step`() async throws {
    try await withBookings { file, database in
      let store = RunStore.sqlite(file)
      #expect(try await stepError(Bookings(.failing), store) as? BookingError == BookingError())
      #expect(try await database.bookings == [])
      let step = try #require(try await store.run("r")?.steps.first)
      #expect(step.kind == .error && step.name == "CommittedStep")
      // The flow sees it, and can continue.
      let flow = Bookings(.failing, .own)
      #expect(try await DurableOperation(flow, named: "s", in: store).run().get() == [-1, 1])
    }
  }

  @Test func `J25: a result that cannot be stored rolls the records back`() async throws {
    try await withBookings { file, database in
      let store = RunStore.sqlite(file, options: RunStoreOptions(valueLimit: 100))
      let error = try await stepError(OneStep(.large), store)
      guard case .tooLarge(_, limit: 100) = (error as? DurableStepError)?.reason else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(try await database.bookings == [])
    }
  }

  @Test func `J25: a process whose run was taken over saves no records`() async throws {
    try await withBookings { file, database in
      let (runner, other) = (RunStore.sqlite(file), RunStore.sqlite(file))
      let gate = Gate()
      let outcome = try await Bookings.$gate.withValue(gate) {
        let flow = DurableOperation(Bookings(.own), named: "r", in: runner).start()
        await gate.waitForArrivals(1)
        // As after the end of the process.
        try await other.backend.release(by: ClaimToken(run: "r", fence: 1))
        let claim = try await other.claim("r")
        try await other.backend.end(by: claim, "[7]", as: .result, sequence: nil)
        gate.open()
        return await flow.outcome
      }
      #expect(outcome.result == [7])
      #expect(try await database.bookings == [])
      #expect(try await other.run("r")?.steps.isEmpty == true)
    }
  }

  @Test func `J25: a transaction of an older claim, or of a cancelled run, changes nothing`()
    async throws
  {
    try await withBookings { file, database in
      let store = RunStore.sqlite(file)
      try await store.start(Bookings(.own), named: "r")
      let old = try await store.claim("r")
      try await store.backend.release(by: old)
      let new = try await store.claim("r")
      await #expect(throws: DurableRunError("r", .taken(fence: old.fence))) {
        try await store.commit(by: old, in: database) { try $0.book("old") }
      }
      #expect(try await database.bookings == [])
      try await store.commit(by: new, in: database) { try $0.book("new") }
      #expect(try await store.run("r")?.summary.step == 1)
      try await store.cancel("r")
      await #expect(throws: DurableRunError("r", .cancelled(because: nil))) {
        try await store.commit(step: 1, by: new, in: database) { try $0.book("cancelled") }
      }
      #expect(try await database.bookings == ["new"])
      #expect(try await store.run("r")?.summary.step == 1)
    }
  }

  @Test(arguments: [OneStep.Step.cancelledBefore, .cancelledAfter, .cancelledCaught])
  func `J25: a cancelled step rolls its records back, and runs again`(
    step: OneStep.Step
  ) async throws {
    try await withBookings { file, database in
      let store = RunStore.sqlite(file)
      let task = CancelledTask()
      let outcome = await OneStep.$task.withValue(task) {
        let flow = DurableOperation(OneStep(step), named: "r", in: store).start()
        task.begin { flow.cancel() }
        return await flow.outcome
      }
      #expect(outcome.isCancelled)
      #expect(try await database.bookings == [])
      let run = try #require(try await store.run("r"))
      #expect(run.summary.state == .ready && run.summary.step == 0)
      task.begin {}
      _ = try await OneStep.$task.withValue(task) {
        try await DurableOperation(OneStep(step), named: "r", in: store).run().get()
      }
      #expect(try await database.bookings == ["once"])
    }
  }

  @Test func `J25: outside a durable run, the closure runs in a transaction of its own`()
    async throws
  {
    try await withBookings { _, database in
      #expect(try await Bookings.booking("1").run().get() == 1)
      #expect(try await Bookings.booking("2").journaled(as: "k").run().get() == 2)
      // The record exists.
      #expect(await Bookings.booking("2").run().error is RecordError)
      #expect(try await database.bookingCount == 2)
      let steps = try await SequentialOperation(Bookings(.own, .failing, .parts)).run().get()
      #expect(steps == [3, -1, 0, 0])
      #expect(try await database.bookings == ["0", "1", "2", "2-0", "2-1"])
    }
  }

  @Test func `J25: records in another file, or a run in memory, are an error with the remedy`()
    async throws
  {
    try await withBookings { file, database in
      for store in [RunStore.memory(), .sqlite(file + ".flows")] {
        let error = try await stepError(Bookings(.own), store)
        let text = (error as? CommittedStepError).map { "\($0)" }
        let isMemory = store.backend.committer == nil
        let place = isMemory ? "memory" : file + ".flows"
        #expect(
          text?.hasPrefix(
            "run r, step 0, own: the records are in \(file), and the run is stored in \(place); ")
            == true, "\(text ?? "none")")
        #expect(text?.contains("RunStore.sqlite(\"\(file)\")") == true)
      }
      #expect(try await database.bookings == [])
    }
  }

  @Test(arguments: [OneStep.Step.inComposite, .retried, .inBody])
  func `J25: a part of a step without a key is an error that names journaled`(
    step: OneStep.Step
  ) async throws {
    try await withBookings { file, database in
      let store = RunStore.sqlite(file)
      let error = try #require(try await stepError(OneStep(step), store))
      #expect("\(error)".contains("add `.journaled(as:)` directly to the `CommittedStep`"))
      #expect(try await database.bookings == [])
    }
  }

  @Test(arguments: [OneStep.Step.keyedInBody, .keyedRetried, .keyedStep])
  func `J25: a part of a step with a key takes effect once`(step: OneStep.Step) async throws {
    let flow = OneStep(step)
    for number in 0..<100 {
      let hasCrashed = try await withBookings { file, database in
        do {
          let process = DisturbedStore(file)
          process.gate.begin(.stop(isAfter: number % 2 == 1, commit: number / 2 + 1))
          _ = await DurableOperation(flow, named: "r", in: process.store).run()
        }
        let store = RunStore.sqlite(file)
        let run = try await store.backend.run("r")
        let hasCrashed = run?.state.hasEnded != true
        // A stored result is progress, so the claim does not count any more.
        if try await store.backend.parts(of: "r", last: nil).keys.contains(where: {
          $0.kind == .result
        }) {
          #expect(run?.claims == 0, "\(number)")
        }
        #expect(try await DurableOperation(flow, named: "r", in: store).run().get() == 1)
        #expect(try await database.bookings == ["once"])
        return hasCrashed
      }
      // A crash after the last commit leaves a run that has ended.
      guard hasCrashed || number % 2 == 1 else {
        #expect(number >= 10)
        return
      }
    }
    Issue.record("the flow has too many commits")
  }

  @Test func `J25: a step within a transaction of the file fails instead of waiting for its end`()
    async throws
  {
    try await withBookings { file, database in
      let error = try #require(
        try await stepError(OneStep(.inTransaction), RunStore.sqlite(file)))
      #expect("\(error)".contains("deadlock"))
      #expect(try await database.bookings == [])
    }
  }

  @Test func `J25: a database that must not be written is an error, and nothing is saved`()
    async throws
  {
    try await withBookings { file, database in
      let store = RunStore.sqlite(file)
      let readOnly = SQLiteRecordDatabase(file, SQLiteOptions(access: .readOnly))
      let error = try await Bookings.$database.withValue(readOnly) {
        try #require(try await stepError(Bookings(.own), store))
      }
      #expect("\(error)".contains("cannot be written: its access is .readOnly"))
      #expect(try await database.bookings == [])
    }
  }

  @Test func `J25: a journal and records share a file, whichever comes first`() async throws {
    try await withBookings { file, database in
      _ = try await Bookings.booking("first").run().get()
      let store = RunStore.sqlite(file)
      #expect(try await DurableOperation(Bookings(.own), named: "r", in: store).run().get() == [2])
      #expect(try await store.check() == [])
      #expect(try await database.bookings == ["0", "first"])
    }
    try await withBookings { file, database in
      _ = try await SaveRecords([DatabaseRecord("Event", "1")], in: database).run().get()
      let error = await #expect(throws: RunStoreError.self) {
        try await RunStore.sqlite(file).start(Bookings(.own), named: "r")
      }
      #expect(error?.reason == .foreignFile)
      #expect(
        error?.description.contains("has a table Event, whose name the journal needs") == true)
    }
  }
}

/// A flow of one step that books once.
struct OneStep: DurableSequence {
  enum Step: String, Codable, Sendable {
    case plain, large, cancelledBefore, cancelledAfter, cancelledCaught, inComposite, retried,
      inBody,
      keyedInBody, keyedRetried, keyedStep, refused, inTransaction, ignoringErrors
  }

  @TaskLocal static var task = CancelledTask()

  let step: Step

  init(_ step: Step) { self.step = step }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? operation : nil
  }

  private var operation: any ComposableOperation {
    let (booking, database, task) = (Bookings.booking("once"), Bookings.database, Self.task)
    return switch step {
    case .plain: booking
    case .large:
      CommittedStep(in: database) { records in
        _ = try records.book("once")
        return String(repeating: "x", count: 200)
      }
    case .cancelledBefore:
      CommittedStep(in: database) { records in
        task.cancel()
        return try records.book("once")
      }
    case .cancelledAfter:
      CommittedStep(in: database) { records in
        let count = try records.book("once")
        task.cancel()
        return count
      }
    case .cancelledCaught:
      CommittedStep(in: database) { records in
        let count = try records.book("once")
        task.cancel()
        _ = try? records.book("once")
        return count
      }
    case .inComposite: ParallelOperation([booking])
    case .retried: booking.retrying(attempts: 1)
    case .inBody: SimpleOperation.withContext { try await $0.run(booking) }
    case .keyedInBody:
      SimpleOperation.withContext { context in
        let count = try await context.run(booking.named("booking").journaled(as: "k"))
        let after = SimpleOperation { count }.named("after")
        return try await context.run(after.journaled(as: "after"))
      }
    case .keyedRetried: booking.journaled(as: "k").durablyRetrying(attempts: 100)
    case .keyedStep: booking.journaled(as: "k")
    case .refused: CommittedStep(in: database) { try $0.bookRefused() }
    case .ignoringErrors:
      CommittedStep(in: database) { records in
        _ = try? records.bookLarge()
        return (try? records.book("once")) ?? 0
      }
    case .inTransaction:
      TransactionOperation(in: database) { _ in booking.journaled(as: "k") }
    }
  }

  func output(of steps: FinishedSteps) -> Int { steps.last?.result(as: Int.self) ?? 0 }
}

/// The task of a flow that its own step cancels.
final class CancelledTask: Sendable {
  private let function = Lock<(@Sendable () -> Void)?>(nil)

  func begin(_ cancel: @escaping @Sendable () -> Void) { function.withLock { $0 = cancel } }

  /// Cancels the task, as soon as it is known.
  func cancel() {
    while true {
      if let function = function.withLock({ $0 }) { return function() }
    }
  }
}

extension RunStore {
  func claim(_ id: RunID) async throws -> ClaimToken {
    guard case .claimed(let claim) = try await backend.claim(id) else {
      throw BookingError(code: 409)
    }
    return claim.token
  }

  /// Performs a body in the transaction of a step, without a flow.
  func commit(
    step: Int = 0, by claim: ClaimToken, in database: SQLiteRecordDatabase,
    _ body: @escaping @Sendable (RecordWriter) throws -> Int
  ) async throws {
    let options = database.options
    guard let committer = backend.committer as? any StepCommitter<SQLiteConnection> else {
      throw BookingError(code: 501)
    }
    _ = try await committer.commit(dropping: 0..<0, hasKeys: false, by: claim) { connection in
      let value = try RecordWriter.perform(in: connection, options, isCancelled: { false }, body)
      return CommittedValue(
        value,
        in: StoredStep(
          position: step, name: "step", kind: .result, value: "\(value)", fence: claim.fence,
          began: 0, ended: 0))
    }
  }
}
