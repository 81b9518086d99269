import CommandLineOperations
import CompositeOperations
import DurableOperations
import Foundation
import SystemSupport

/// `coop cluster-demo ADDRESS`
struct ClusterCommand {
  static let usage = """
    usage: coop cluster-demo ADDRESS [--queue QUEUE] [--children N] [--lease SECONDS]

    Runs a flow with child flows on three `coop worker` processes, kills two of them with SIGKILL when a third of the
    child flows has ended, starts two others, and compares the result with that of the same flow in one process.
    ADDRESS is the address of a PostgreSQL database that is prepared for durable runs. `make cluster-demo` runs it with
    a private server.

      --queue QUEUE     the queue in the database (default: default)
      --children N      the number of child flows, of three steps of 50 to 200 ms each (default: 200)
      --lease SECONDS   how long a run of a killed worker is not taken over (default: 3; without this demo, 30)

    Exit status: 0 equal results, 1 error or different results, 64 invalid arguments, 130 interrupted by Ctrl-C,
    143 by SIGTERM, 129 by SIGHUP. No worker is left running.
    """

  private let place: String
  private var queue = StoreOptions.defaultQueue
  private var count = 200
  private var lease = 3
  private let standardError = StandardError()

  init(_ arguments: ArraySlice<RawPath>) throws(UsageError) {
    var rest = arguments
    let expected = "postgresql://USER@HOST/DATABASE"
    guard let first = rest.popFirst() else {
      throw UsageError("cluster-demo: no ADDRESS; expected \(expected)")
    }
    place = try StoreOptions.place(first, "ADDRESS", for: "cluster-demo")
    guard RunStore.isAddress(place) else {
      throw UsageError("cluster-demo: ADDRESS \(first) is a path; expected \(expected)")
    }
    while let argument = rest.popFirst() {
      switch argument.text {
      case "--queue": queue = try StoreOptions.queue(from: &rest, at: place, for: "cluster-demo")
      case "--children":
        count = try StoreOptions.number("--children", 1...1_000, from: &rest, for: "cluster-demo")
      case "--lease":
        lease = try StoreOptions.number("--lease", 1...3_600, from: &rest, for: "cluster-demo")
      default:
        throw UsageError(
          "cluster-demo: unexpected argument \(argument); expected --queue, --children or --lease")
      }
    }
  }

  /// The command that shows the runs on a page, without a password.
  private func pageCommand(in store: RunStore) async -> String {
    let preparation = try? await store.backend.preparation()
    var words = ["journal", preparation?.omitsPassword == false ? place : "ADDRESS", "serve"]
    if queue != StoreOptions.defaultQueue { words += ["--queue", queue] }
    let program = CommandLine.arguments.first ?? "coop"
    return ([program] + words).map(\.quotedForShell).joined(separator: " ")
  }

  /// - Returns: The exit status.
  func run() async -> Int32 {
    do {
      let store = try StoreOptions.store(at: place, queue: queue)
      do {
        let status = try await run(in: store)
        await store.close()
        return status
      } catch {
        await store.close()
        throw error
      }
    } catch {
      standardError.writeFailure("coop cluster-demo: \("\(error)".onOneLine)")
      return ExitStatus.failure
    }
  }

  private func run(in store: RunStore) async throws -> Int32 {
    // A problem of the store is an error before any worker starts.
    _ = try await store.runs(limit: 1)
    let log = FileManager.default.temporaryDirectory
      .appendingPathComponent("cluster-demo-\(UUID().uuidString).log").path
    try Data().write(to: URL(fileURLWithPath: log))
    defer { try? FileManager.default.removeItem(atPath: log) }
    let id = RunID("demo-" + UUID().uuidString.prefix(8).lowercased())
    let workers = ClusterWorkers(
      [place, "--queue", queue, "--width", "4", "--lease", "\(lease)"])
    let cluster = RunCluster(
      flow: ClusterSum(name: id.text, count: count, log: log), id: id, store: store,
      workers: workers, output: standardError,
      page: await pageCommand(in: store))
    // The workers must have ended before this process does.
    let flow = try await ProgramRun(
      of: cluster, observedBy: ProgramObservation(TraceOptions()), awaitsEnd: true,
      onSecondSignal: workers.killAll)
    switch flow.outcome {
    case .error(let error): throw error
    case .cancelled:
      try? await store.cancel(id, because: "the demo was interrupted")
      standardError.writeLine("coop cluster-demo: interrupted")
      return flow.interruptedStatus
    case .result(let result):
      let expected = try await SequentialOperation(ClusterSum(name: id.text, count: count))
        .run().get()
      let report = ClusterReport(
        result, expected: expected, workers.all,
        try BegunStep.all(in: log), lease: .seconds(lease), after: flow.duration)
      try StandardOutput().write(Array(report.text.utf8))
      return report.isGood ? ExitStatus.success : ExitStatus.failure
    }
  }
}
