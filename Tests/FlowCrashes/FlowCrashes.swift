import CompositeOperations
import DurableOperations
import Foundation
import RecordOperations
import SQLiteSupport
import Synchronization

/// Durable runs that tests kill.
///
/// usage: FlowCrashes flow FOLDER LAUNCH [MOMENT COMMIT]
///        FlowCrashes commit FOLDER LAUNCH [MOMENT COMMIT]
///        FlowCrashes start FOLDER LAUNCH COUNT
///        FlowCrashes work FOLDER LAUNCH [WORKING-FOLDER]
///        FlowCrashes drain FOLDER LAUNCH MILLISECONDS
///        FlowCrashes hold FOLDER LAUNCH WORKING-FOLDER [disturb]
///        FlowCrashes wait FOLDER LAUNCH NAME
///        FlowCrashes poison FOLDER LAUNCH COUNT
///
/// - `flow` runs ``EveryKindOfStep`` to its end, and prints its outcome and the number of commits.
///   With a moment, `before` or `after`, the process kills itself at that moment of the commit with
///   that number. With `fail` in place of a moment, the files cannot grow from that commit on, until
///   the flow has ended in an error and is run again; the errors are printed.
/// - `commit` runs ``CommittedSteps`` in the same way.
/// - `start` starts a number of runs of ``SmallFlow``.
/// - `work` runs them, and those of `poison`, until it is killed. After its first request, it changes its working
///   folder.
/// - `drain` runs them until it receives SIGTERM, and lets steps end for a while. It prints its outcome.
/// - `hold` runs ``EndlessFlow`` in another working folder. With `disturb`, it opens, closes and compacts its
///   journal before it makes the file `disturbed`.
/// - `wait` starts or resumes a run of ``SlowFlow``, and prints its outcome.
/// - `poison` starts a run that kills its process, and a number of runs of ``SlowFlow``.
///
/// JOURNAL in the environment is another path of the journal. USER_ID is the number of the user and of the group
/// that a process of root becomes.
///
/// Each body appends a line to the file `effects`: the number of the launch, the idempotency key,
/// and the fencing token.
@main struct FlowCrashes {
  static let folder = CommandLine.arguments[2]
  static let launch = CommandLine.arguments[3]

  static func main() async throws {
    if let user = ProcessInfo.processInfo.environment["USER_ID"].flatMap({ UInt32($0) }) {
      guard setgroups(0, nil) == 0, setgid(user) == 0, setuid(user) == 0 else {
        throw EffectError(name: "user \(user): errno \(errno)")
      }
    }
    let arguments = CommandLine.arguments
    let moment = arguments.count > 4 ? arguments[4] : nil
    let commit = arguments.count > 5 ? Int(arguments[5]) ?? 0 : 0
    switch arguments[1] {
    case "flow":
      try await run(at: moment, of: commit) { try await run(EveryKindOfStep()) }
    case "commit":
      try await run(at: moment, of: commit) { try await run(CommittedSteps()) }
    case "start":
      for number in 0..<(Int(arguments[4]) ?? 0) {
        try await store.start(SmallFlow(number: number), named: "small-\(number)")
      }
    case "drain":
      let worker = DurableWorker(
        in: store, running: [SlowFlow.self, LongFlow.self, EndlessFlow.self])
      let limit = Duration.milliseconds(Int(arguments[4]) ?? 0)
      print(await worker.run(endingOn: [.terminate], draining: limit))
    case "hold":
      _ = try await store.runs(limit: 1)
      _ = FileManager.default.changeCurrentDirectoryPath(arguments[4])
      _ = await DurableWorker(in: store, running: [EndlessFlow.self]).run()
    case "wait":
      print(await DurableOperation(SlowFlow(), named: RunID(arguments[4]), in: store).run())
    case "poison":
      try await store.start(PoisonFlow(), named: "poison")
      for number in 0..<(Int(arguments[4]) ?? 0) {
        try await store.start(SlowFlow(), named: "slow-\(number)")
      }
    default:
      _ = try await store.runs(limit: 1)
      if let moment { _ = FileManager.default.changeCurrentDirectoryPath(moment) }
      let flows: [any DurableSequence.Type] = [SmallFlow.self, SlowFlow.self, PoisonFlow.self]
      _ = await DurableWorker(in: store, running: flows, width: .limited(to: 4)).run()
    }
  }

  /// The store that all bodies use.
  static let store = RunStore.sqlite(
    ProcessInfo.processInfo.environment["JOURNAL"] ?? "\(folder)/flows.sqlite", options: options
  ) { moment, _ in
    try hook.withLock(\.self)?(moment)
  }

  /// The records in the file of the store.
  static let records = SQLiteRecordDatabase("\(folder)/flows.sqlite")

  private static var options: RunStoreOptions {
    var options = RunStoreOptions()
    options.parkingThreshold = .milliseconds(5)
    return options
  }

  private static let hook = Lock<(@Sendable (CommitMoment) throws -> Void)?>(nil)

  /// Runs a flow to its end, or kills the process before or after a commit.
  private static func run(
    at moment: String?, of chosen: Int, _ flow: () async throws -> Outcome<[String]>
  ) async throws {
    let commits = Atomic(0)
    hook.withLock { hook in
      hook = { current in
        if current == .beforeCommit { commits.add(1, ordering: .relaxed) }
        guard commits.load(ordering: .relaxed) == chosen else { return }
        switch moment {
        case "before" where current == .beforeCommit: kill(getpid(), SIGKILL)
        case "after" where current == .afterCommit: kill(getpid(), SIGKILL)
        case "fail" where current == .beforeCommit: FileSizeLimit.begin()
        default: break
        }
      }
    }
    while true {
      let outcome: Outcome<[String]>
      do { outcome = try await flow() } catch {
        guard moment == "fail", error is RunStoreError else { throw error }
        print("error", error)
        FileSizeLimit.end()
        continue
      }
      print("outcome", try outcome.get())
      print("commits", commits.load(ordering: .relaxed))
      return
    }
  }

  /// Starts or resumes the flow, and sends the event that it awaits.
  ///
  /// - Throws: The error of the store.
  private static func run<Flow: DurableSequence>(
    _ flow: Flow
  ) async throws -> Outcome<[String]> where Flow.Output == [String] {
    try await store.start(flow, named: "run")
    do {
      try await store.send("granted", as: "approval", to: "run")
    } catch let error as RunStoreError where error.reason == .wrongState {
      // It has ended.
    }
    let outcome = await DurableOperation(flow, named: "run", in: store).run()
    if let error = outcome.error as? RunStoreError { throw error }
    return outcome
  }
}

/// A limit of the size of files, so that writes to the log of the database fail.
private enum FileSizeLimit {
  static func begin() {
    signal(SIGXFSZ, SIG_IGN)
    let log = "\(FlowCrashes.folder)/flows.sqlite-wal"
    let attributes = try? FileManager.default.attributesOfItem(atPath: log)
    set(attributes?[.size] as? UInt ?? 0)
  }

  static func end() { set(.max) }

  private static func set(_ size: UInt) {
    var limit = rlimit(rlim_cur: size, rlim_max: .max)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
  }
}
