import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct ConditionTests {
  /// Returns a condition whose result a letter determines: `p`roceed, `s`kip or `f`ail. Conditions
  /// of capital letters suspend.
  static func condition(_ letter: Character, noting log: Log<Character>) -> Condition {
    @Sendable func answer() throws -> Bool {
      log.add(letter)
      switch letter.lowercased() {
      case "p": return true
      case "s": return false
      default: throw TestError("no")
      }
    }
    if letter.isLowercase { return Condition("\(letter)") { try answer() } }
    return Condition("\(letter)") {
      await Task.yield()
      return try answer()
    }
  }

  private static func kind(_ letters: String) async -> String {
    let log = Log<Character>()
    let conditions = letters.map { condition($0, noting: log) }
    return await SimpleOperation { 7 }.requiring(.all(conditions)).run().kind
  }

  // MARK: Results

  @Test func `Q1: the precedence of all is failed, then skipped, then met`() async {
    for (letters, kind) in [
      ("", "result 7"), ("p", "result 7"), ("P", "result 7"), ("pP", "result 7"),
      ("s", "cancelled"), ("S", "cancelled"), ("sp", "cancelled"), ("Ps", "cancelled"),
      ("PSP", "cancelled"), ("f", "error no"), ("F", "error no"), ("sf", "error no"),
      ("SFp", "error no"), ("Fs", "error no"), ("pF", "error no"), ("sF", "error no"),
    ] {
      let log = Log<Character>()
      let conditions = letters.map { Self.condition($0, noting: log) }
      #expect(await Self.kind(letters) == kind, "all: \(letters)")
      if letters.count == 2 {
        let both = SimpleOperation { 7 }.requiring(conditions[0], conditions[1])
        #expect(await both.run().kind == kind, "both: \(letters)")
        let next = SimpleOperation { 7 }.requiring(conditions[0]).requiring(conditions[1])
        #expect(await next.run().kind == kind, "next: \(letters)")
      }
    }
  }

  @Test func `Q1: the precedence of any is met, then skipped, then failed`()
    async
  {
    for (letters, kind) in [
      ("", "none"), ("p", "result 7"), ("FsP", "result 7"), ("sfP", "result 7"),
      ("s", "cancelled"), ("SF", "cancelled"), ("fs", "cancelled"), ("F", "none"), ("Ff", "none"),
    ] {
      let log = Log<Character>()
      let any = Condition.any(letters.map { Self.condition($0, noting: log) })
      let outcome = await SimpleOperation { 7 }.requiring(any).run()
      if kind == "none" {
        let error = outcome.error as? NoConditionMetError
        #expect(error?.errors.count == letters.count, "\(letters)")
        #expect(error?.description.contains("no condition was met") == true)
      } else {
        #expect(outcome.kind == kind, "\(letters)")
      }
    }
  }

  @Test func `Q1: not exchanges met and skipped, and keeps a failure`() async {
    let log = Log<Character>()
    for (letter, kind) in [
      ("p", "cancelled"), ("P", "cancelled"), ("s", "result 7"), ("S", "result 7"),
      ("f", "error no"), ("F", "error no"),
    ] {
      let condition = Self.condition(Character(letter), noting: log)
      #expect(await SimpleOperation { 7 }.requiring(.not(condition)).run().kind == kind)
      // The same within all and any.
      for nested in [Condition.all(condition), .any(condition)] where letter.lowercased() != "f" {
        #expect(await SimpleOperation { 7 }.requiring(.not(nested)).run().kind == kind, "\(letter)")
      }
      let twice = await SimpleOperation { 7 }.requiring(.not(.not(condition))).run().kind
      #expect(await twice == Self.kind(letter))
    }
  }

  @Test func `Q1: the reason of a skip is in the event and on the handle`() async {
    let reasons: [(Condition, String)] = [
      (Condition("is online") { false }, "condition 'is online' is not met"),
      (
        Condition("is online") {
          await Task.yield()
          return false
        }, "condition 'is online' is not met"
      ),
      (.not(Condition("is metered") { true }), "condition 'not is metered' is not met"),
      (Condition("is due") { throw Skipped(because: "it ran today") }, "it ran today"),
      (Condition(SimpleOperation<Bool> { throw Skipped(because: "no account") }), "no account"),
      (
        Condition("is sure") {
          await Task.yield()
          throw CancellationError()
        },
        "condition 'is sure' stopped without an answer"
      ),
      (
        .confirmed("Delete 3 files?") { $0 == "yes" },
        "condition 'confirmed: Delete 3 files?' is not met"
      ),
    ]
    for (condition, reason) in reasons {
      let recorder = RecordingObserver()
      let run = SimpleOperation { 7 }.named("body").requiring(condition)
        .start(in: OperationEnvironment(observers: [recorder]))
      #expect(await run.outcome.isCancelled)
      #expect(await run.lateOutcome?.error as? Skipped == Skipped(because: reason))
      #expect(recorder.short.last == "body ended: cancelled, late: error skipped: \(reason)")
    }
  }

  @Test func `Q1: modifiers that run a child pass on the reason of its skip`()
    async
  {
    let skipped = SimpleOperation { 7 }.requiring(Condition("is online") { false })
    let all: [any ComposableOperation<Int>] = [
      skipped.map { $0 }, skipped.then { value in SimpleOperation { value } },
      SimpleOperation { 7 }.then { _ in skipped }, skipped.retrying(attempts: 2),
      skipped.repeating(times: 2), skipped.ignoringErrors(with: 8), skipped.finally { _ in },
      skipped.finally { _ in }.map { $0 }.retrying(attempts: 2),
      skipped.observed(by: RecordingObserver()).retrying(attempts: 2),
    ]
    for observers in [[], [RecordingObserver()]] {
      for (index, operation) in all.enumerated() {
        let run = AnyOperation(operation).start(in: OperationEnvironment(observers: observers))
        #expect(await run.outcome.isCancelled)
        let skip = await run.lateOutcome?.error as? Skipped
        #expect(skip?.reason == "condition 'is online' is not met", "\(index)")
      }
    }
  }

  @Test func `Q1: an operation can be a condition, and can run other operations`() async {
    let recorder = RecordingObserver()
    let account = SimpleOperation.withContext { context in
      try await context.run(SimpleOperation { "octocat" }.named("fetch account")) == "octocat"
    }.named("has account")
    let operation = SimpleOperation { 7 }.named("body").requiring(Condition(account))
    #expect(await operation.run(in: OperationEnvironment(observers: [recorder])).result == 7)
    let paths = recorder.events.map(\.path.description)
    #expect(Set(paths) == ["body", "body/has account", "body/has account/fetch account"])
  }

  @Test func `O3: values in discarded failures of conditions are discarded once`() async {
    let discarded = Log<Int>()
    let carrying = ParallelOperation(
      [
        AnyOperation(SimpleOperation { 5 }.discarding { discarded.add($0) }),
        AnyOperation(SimpleOperation<Int> { throw TestError("no") }),
      ], width: .limited(to: 1)
    ).map { _ in true }
    let body = SimpleOperation { 7 }
    _ = await body.requiring(.any(Condition(carrying))).ignoringErrors(with: 8).run()
    #expect(discarded.entries == [5])
    _ = await body.requiring(.any(Condition(carrying), Condition("is so") { false })).run()
    #expect(discarded.entries == [5, 5])
    // One error that several errors contain.
    let condition = Condition(carrying)
    discarded.clear()
    for (number, operation) in [
      body.requiring(.any(condition, .any(condition))),
      body.requiring(.all(condition, .any(condition), onFailure: .runAll)),
      body.requiring(
        .any(.all(condition, .all(condition, onFailure: .runAll), onFailure: .runAll))),
    ].map({ AnyOperation($0) }).enumerated() {
      _ = await operation.ignoringErrors(with: 8).run()
      #expect(discarded.count == number + 1, "\(number)")
    }
  }

  // MARK: Evaluation

  @Test func `Q1: in the mode runAll, the error contains every failure`()
    async throws
  {
    for (letters, failing) in [
      ("f", "f"), ("F", "F"), ("fpF", "fF"), ("FsSf", "Ff"), ("FfP", "Ff"), ("FF", "FF"),
    ] {
      let log = Log<Character>()
      let conditions = letters.map { Self.condition($0, noting: log) }
      let all = Condition.all(conditions, onFailure: .runAll)
      let error = await SimpleOperation { 7 }.requiring(all).run().error
      let failed = try #require(error as? FailedConditionsError)
      #expect(failed.names == failing.map(String.init))
      #expect(failed.errors as? [TestError] == failing.map { _ in TestError("no") })
      #expect("\(failed)" == failing.map { "\($0): no" }.joined(separator: "\n"))
      #expect(log.count == letters.count)
    }
    let log = Log<Character>()
    for (letters, kind) in [("", "result 7"), ("pP", "result 7"), ("ps", "cancelled")] {
      let conditions = letters.map { Self.condition($0, noting: log) }
      let all = Condition.all(conditions, onFailure: .runAll)
      #expect(await SimpleOperation { 7 }.requiring(all).run().kind == kind)
    }
  }

  @Test func `the name of a condition without operands says so`() {
    #expect(Condition.all().name == "all of no conditions")
    #expect(Condition.any([]).name == "any of no conditions")
    let isOpen = Condition("is open") { true }
    #expect(Condition.all(isOpen, .not(isOpen)).name == "all of is open, not is open")
  }

  @Test func `C2: a raised priority reaches the conditions that a run waits for`() async throws {
    let gate = Gate()
    let priority = Log<TaskPriority>()
    let isReady = Condition("is ready") {
      try await gate.pass()
      priority.add(Task.currentPriority)
      return true
    }
    let operation = SimpleOperation { 7 }.requiring(isReady, .not(.not(isReady)))
    let task = Task(priority: .background) { await operation.run() }
    await gate.waitForArrivals(1)
    task.escalatePriority(to: .high)
    gate.open()
    #expect(await task.value.result == 7)
    #expect(priority.entries.allSatisfy { $0 >= .high }, "\(priority.entries)")
  }

  // MARK: Capabilities

  @Test func `Q3: an authorized run proceeds, any other fails, and a capability is requested once`()
    async throws
  {
    for (first, answer, kind, asked) in [
      (CapabilityStatus.authorized, CapabilityStatus.denied, "result 7", 0),
      (.undetermined, .authorized, "result 7", 1),
      (.undetermined, .denied, "error contacts is denied", 1),
      (.denied, .authorized, "error contacts is denied", 0),
      (.unavailable, .authorized, "error contacts is unavailable", 0),
    ] {
      let contacts = Contacts(first, answer: answer)
      let condition = Condition.authorized(for: contacts)
      let operation = SimpleOperation { 7 }.requiring(condition)
      let list = ParallelOperation([operation, operation, operation], onFailure: .runAll)
        .collectingOutcomes()
      for outcome in try await list.run().get() { #expect(outcome.kind == kind) }
      #expect(contacts.askedCount == asked, "\(first) \(answer)")
    }
  }
}

private final class Contacts: Capability {
  private let state: Lock<(status: CapabilityStatus, askedCount: Int)>
  private let answer: CapabilityStatus

  init(_ status: CapabilityStatus, answer: CapabilityStatus) {
    state = Lock((status, 0))
    self.answer = answer
  }

  var name: String { "contacts" }
  var askedCount: Int { state.withLock { $0.askedCount } }

  func status() async throws -> CapabilityStatus { state.withLock { $0.status } }

  func request() async throws -> CapabilityStatus {
    await Task.yield()
    return state.withLock { state in
      state.askedCount += 1
      state.status = answer
      return answer
    }
  }
}
