import CompositeOperations
import DurableOperations
import DurableTestSupport
import Foundation
import SQLiteSupport
import Testing

/// Lets the writes of a store fail.
@Suite(.timeLimit(.minutes(10))) struct StoreFaultTests {
  /// The limit of the file size makes the system refuse what SQLite writes at a commit.
  @Test(.timeLimit(.minutes(10)))
  func `J1: after an I/O error at any commit, the flow ends in that error and is resumed`()
    async throws
  {
    let undisturbed = try await UndisturbedFlow()
    // The numbers of commits differ a little, as in `FlowCrashTests`.
    let last = undisturbed.commits - 8
    let step = CrashSettings.crashes == nil ? CrashSettings.count(debug: 4, release: 1) : 1
    let faults = stride(from: 1, through: last, by: step).map { commit in
      SimpleOperation {
        let folder = try CrashFolder()
        let (status, output) = try await folder.run("flow", launch: 0, "fail", "\(commit)")
        #expect(status == 0, "commit \(commit): \(output)")
        let lines = output.split(separator: "\n").map(String.init)
        #expect(lines.contains(undisturbed.outcome), "commit \(commit): \(output)")
        let errors = lines.filter { $0.hasPrefix("error ") }
        #expect(errors.count == 1 && errors[0].contains("I/O"), "commit \(commit): \(output)")
        let problems = Self.problems(try folder.effects, undisturbed.effects)
        #expect(problems == [], "commit \(commit)")
        #expect(try await RunStore.sqlite(folder.journal).check() == [])
      }
    }
    _ = try await ParallelOperation(faults, width: .limited(to: 4)).run().get()
  }

  /// - Returns: The bodies that ran too often after one fault: only the step in flight runs again.
  private static func problems(
    _ effects: [EffectLine], _ undisturbed: [EffectLine]
  ) -> [String] {
    let once = Dictionary(undisturbed.map { ($0.key, 1) }, uniquingKeysWith: +)
    let counts = Dictionary(effects.map { ($0.key, 1) }, uniquingKeysWith: +)
    let repeated = counts.filter { key, count in count > once[key, default: 0] }
    let tooOften = repeated.filter { key, count in count > once[key, default: 0] + 1 }
    let steps = Set(repeated.keys.map { $0.split(separator: "/").prefix(2) })
    var problems = tooOften.map { "\($0.key) runs \($0.value) times" }
    problems += once.keys.filter { counts[$0] == nil }.map { "\($0) does not run" }
    if steps.count > 1 { problems.append("several steps run again: \(repeated)") }
    return problems.sorted()
  }

  @Test(.timeLimit(.minutes(10)))
  func `J1: a step whose store fails is cancelled, even if it would go on after the error`()
    async throws
  {
    let folder = try CrashFolder()
    let disk = FullDisk()
    let store = RunStore.sqlite(folder.journal) { moment, _ in
      if moment == .beforeCommit, disk.isFull {
        throw SQLiteError(.diskFull, "the disk is full", file: "test")
      }
    }
    let flow = DurableOperation(StubbornStep(), named: "stubborn", in: store)
    try await store.start(StubbornStep(), named: "stubborn")
    let error = await StubbornSequence.$disk.withValue(disk) {
      await flow.run().error as? RunStoreError
    }
    #expect(error?.reason == .diskFull, "\(error as Any)")
    disk.isFull = false
    #expect(try await flow.run().get() == 1)
  }

  @Test func `J10: a process releases its runs when its store can be written again`() async throws {
    let folder = try CrashFolder()
    let disk = FullDisk()
    let store = RunStore.sqlite(folder.journal) { moment, _ in
      if moment == .beforeCommit, disk.isFull {
        throw SQLiteError(.diskFull, "the disk is full", file: "test")
      }
    }
    try await store.start(StubbornStep(), named: "stubborn")
    let flow = DurableOperation(StubbornStep(), named: "stubborn", in: store)
    await StubbornSequence.$disk.withValue(disk) {
      #expect(await flow.run().error is RunStoreError)
    }
    // The caller has reported the error, and does something else.
    let other = RunStore.sqlite(folder.journal)
    #expect(try await other.run("stubborn")?.summary.state == .running)
    disk.isFull = false
    let waiting = DurableOperation(StubbornStep(), named: "stubborn", in: other)
    #expect(try await waiting.run().get() == 1)
    await store.close()
  }

  @Test func `J1: on a full disk a large result is not finished, and smaller ones go on later`()
    async throws
  {
    let folder = try CrashFolder()
    let limit = PageLimit()
    let store = RunStore.sqlite(folder.journal) { moment, connection in
      try limit.apply(moment, connection)
    }
    let flow = DurableOperation(LargeThenSmall(), named: "large", in: store)
    limit.set(isOn: true)
    let error = await flow.run().error as? RunStoreError
    #expect(error?.reason == .diskFull, "\(error as Any)")
    let run = try #require(try await store.run("large"))
    #expect(run.summary.step == 1 && run.summary.state != .error)
    limit.set(isOn: false)
    #expect(try await flow.run().get() == 2_000_000)
    #expect(try await store.check() == [])
  }
}

private struct LargeThenSmall: DurableSequence {
  private var size = 0

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let text = previous?.result(of: Text.self) { size = max(size, text.utf8.count) }
    switch previous?.index {
    case nil: return Text(size: 1)
    case 0: return Text(size: 2_000_000)
    case 1: return Text(size: 2)
    default: return nil
    }
  }

  func output(of steps: FinishedSteps) -> Int { size }
}

private struct Text: ComposableOperation {
  let size: Int

  func perform(in context: OperationContext) async throws -> String {
    String(repeating: "t", count: size)
  }
}

private final class FullDisk: Sendable {
  private let lock = Lock(false)

  var isFull: Bool {
    get { lock.withLock { $0 } }
    set { lock.withLock { $0 = newValue } }
  }
}

/// A flow of one step, which is a sequence that repeats its step until that has a result.
private struct StubbornStep: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? SequentialOperation(StubbornSequence()).named("stubborn") : nil
  }

  func output(of steps: FinishedSteps) -> Int? {
    steps.last(of: SequentialOperation<StubbornSequence>.self)
  }
}

private struct StubbornSequence: OperationSequence {
  /// Filled by each step.
  @TaskLocal fileprivate static var disk: FullDisk?

  private var value: Int?

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    value = previous?.result(as: Int.self)
    if value != nil { return nil }
    return SimpleOperation {
      Self.disk?.isFull = true
      return 1
    }.journaled(as: previous?.index ?? -1)
  }

  func output(of steps: FinishedSteps) -> Int { value ?? 0 }
}
