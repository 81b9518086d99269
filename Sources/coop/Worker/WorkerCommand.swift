import CommandLineOperations
import CompositeOperations
import Dispatch
import DurableOperations
import FlowFiles
import Foundation
import SystemSupport

/// `coop worker ADDRESS [--commands] [--queue Q] [--width N]`
struct WorkerCommand {
  static let usage = """
    usage: coop worker ADDRESS [--commands] [--queue QUEUE] [--width N] [--drain SECONDS]
                              [--lease SECONDS]

    Runs the durable runs of a store until Ctrl-C. ADDRESS is the address of a PostgreSQL database, such as
    postgresql://flows@db/app, for workers on any number of machines, or an SQLite file, for workers on one machine.
    `coop journal ADDRESS init` shows how to prepare a database, and `coop journal ADDRESS list` the runs.

      --commands        also runs the commands of `coop flow run FILE --on ADDRESS`, as this user. Every user who can
                        write to the database can then run commands on this machine
      --queue QUEUE     the queue in the database (default: default)
      --width N         runs at most N runs at once (default: 16)
      --drain SECONDS   how long steps in progress may take after a signal (default: 5). Set the limit of the supervisor,
                        such as TimeoutStopSec of systemd, to a longer time
      --lease SECONDS   for demonstrations: how long a run of a killed worker is not taken over (default: 30)

    Prints a line when it begins, and one for each run that ends or gets stuck. It knows the flows of the demo
    `coop cluster-demo`, and with --commands those of `coop flow run`. A worker without --commands that claims a
    command gives it back, so workers of both kinds should not share a queue.

    After Ctrl-C, SIGTERM or SIGHUP it claims no more runs. Steps in progress may end for a while; then they are
    cancelled, and their runs are released, so that another worker continues them at once. A second signal ends the
    worker without that.

    Exit status: 1 error, 64 invalid arguments, 130 interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.
    """

  private let arguments: WorkerArguments
  private let standardError = StandardError()

  init(_ arguments: ArraySlice<RawPath>) throws(UsageError) {
    self.arguments = try WorkerArguments(arguments)
  }

  /// - Returns: The exit status.
  func run() async -> Int32 {
    do {
      let place = arguments.place
      let store = try StoreOptions.store(
        at: place, queue: arguments.queue ?? StoreOptions.defaultQueue, lease: arguments.lease)
      do {
        let status = try await run(in: store)
        await store.close()
        return status
      } catch {
        await store.close()
        throw error
      }
    } catch {
      report("\(error)")
      return ExitStatus.failure
    }
  }

  private func run(in store: RunStore) async throws -> Int32 {
    // A problem of the store is an error at once, and not after the line that says it runs.
    _ = try await store.runs(limit: 1)
    SystemSignal.ignore(SystemSignal.brokenPipe)
    try writeBeginning(store)
    let worker = DurableWorker(
      in: store, running: arguments.runsCommands ? KnownFlows.withCommands : KnownFlows.all,
      width: .limited(to: arguments.width))
    let flow = try await RunFlowCommand.$store.withValue(store) {
      try await ProgramRun(
        of: EndingWorker(worker.withEnd, draining: arguments.drain),
        observedBy: ProgramObservation(TraceOptions()), awaitsEnd: true)
    }
    switch flow.outcome {
    case .result: return ExitStatus.success
    case .error(let error): throw error
    case .cancelled:
      if let error = flow.lateOutcome?.error { throw error }
      report("interrupted; its runs are released")
      return flow.interruptedStatus
    }
  }

  private func writeBeginning(_ store: RunStore) throws {
    let info = ProcessInfo.processInfo
    let name = store.backend.worker ?? "\(info.hostName)/\(info.processIdentifier)"
    let line =
      "\(name) runs up to \(arguments.width.counted("run")) of \(store.place(arguments.place))"
      + (arguments.runsCommands ? ", with the commands of flows" : "")
    try StandardOutput().write(Array("\(line.onOneLine)\n".utf8))
  }

  private func report(_ text: String) {
    standardError.writeLine("coop worker: \(text.onOneLine)")
  }
}

/// A worker that lets the steps in progress end after its cancellation.
private struct EndingWorker: ComposableOperation {
  private let worker: DurableWorker
  private let limit: Duration

  init(_ worker: DurableWorker, draining limit: Duration) {
    (self.worker, self.limit) = (worker, limit)
  }

  func perform(in context: OperationContext) async throws {
    // Independent of this task, whose cancellation would cancel the steps at once.
    let run = worker.observed(by: RunReporter()).start()
    let seconds = limit.components.seconds
    let outcome = await withTaskCancellationHandler {
      await run.outcome
    } onCancel: {
      // The threads of tasks may be blocked by bodies, and the one that calls this must not wait for a terminal.
      DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Int(seconds))) { run.cancel() }
      if worker.beginEnd(), seconds > 0 {
        DispatchQueue.global().async {
          StandardError().writeLine(
            "coop worker: waiting up to \(seconds) s for steps in progress; a second signal ends it at once"
          )
        }
      }
    }
    _ = await run.lateOutcome
    try outcome.get()
  }
}

/// An observer that prints what a worker logs: a line for each run that ends, and problems.
private struct RunReporter: OperationObserver {
  let leastLogLevel: OperationLogLevel? = .info

  func observe(_ event: OperationEvent) {
    // The logs of the steps belong to the flows.
    guard event.parent == nil, case .logged(let level, let line) = event.kind else { return }
    if level >= .warning {
      StandardError().writeLine("coop worker: \(line.onOneLine)")
    } else {
      // An output without a reader does not end the worker.
      try? StandardOutput().write(Array("\(line.onOneLine)\n".utf8))
    }
  }
}
