public import CompositeOperations
public import DurableOperations
internal import Foundation

/// One run of a flow in a ``CrashHunt``, with at most one simulated crash.
public struct CrashTrial<Flow: DurableSequence>: Sendable {
  /// The name of the run.
  public let id: RunID = "trial"
  /// The store of the run, to send events to it and to look at it. Its requests do not crash.
  public let store: RunStore
  /// The path of the journal's file; nil if it is in memory.
  public let file: String?
  private let flow: Flow
  private let crash: SimulatedCrash?
  private let clock: SkippingClock

  init(
    of flow: Flow, _ options: RunStoreOptions, in file: String?, crashing crash: SimulatedCrash?
  ) {
    let clock = SkippingClock()
    var options = options
    options.now = { Date(timeIntervalSince1970: clock.seconds) }
    // Every wait that can park the run does, so that parking is tried, too.
    options.parkingThreshold = .zero
    self.flow = flow
    self.crash = crash
    self.clock = clock
    self.file = file
    store = file.map { .sqlite($0, options: options) } ?? .memory(options: options)
  }

  /// The outcome of the flow, which runs until it ends. After the simulated crash, the next process
  /// continues.
  ///
  /// - Throws: A `DurableRunError` if the run is stuck; a ``CrashTrialError`` if it waits for an event
  ///   that was not sent; `CancellationError`.
  public var outcome: Outcome<Flow.Output> {
    get async throws {
      let run = try await ended()
      return try await store.backend.outcome(of: run, as: Flow.self)
    }
  }

  var hasCrashed: Bool { crash?.hasHappened == true }

  /// The outcome of the run, as it is stored.
  var storedOutcome: String {
    get async throws {
      guard let run = try await store.backend.run(id), run.state.hasEnded else {
        throw CrashTrialError(description: "the body did not ask the trial for its outcome")
      }
      if run.state == .result, run.outcome == nil {
        return try await String(describing: store.backend.outcome(of: run, as: Flow.self).get())
      }
      return [run.state.rawValue, run.outcome, run.reason].compactMap(\.self)
        .joined(separator: " ")
    }
  }

  private func ended() async throws -> StoredRun {
    var process = CrashingBackend(store.backend, crash)
    while true {
      try Task.checkCancellation()
      do {
        _ = try await process.start(flow, named: id)
        if let run = try await attempt(in: process) { return run }
      } catch let error as RunStoreError where error.reason == .closed {
        // The operating system frees the lock of a process that ends.
        for claim in process.claims { try await store.backend.release(by: claim) }
        process = CrashingBackend(store.backend, nil)
      }
    }
  }

  /// - Returns: The run if it has ended.
  private func attempt(in process: CrashingBackend) async throws -> StoredRun? {
    let driver = RunDriver(id, of: Flow.self, in: process)
    let environment = OperationEnvironment(clock: clock)
    switch await AttemptOperation(driver: driver).run(in: environment) {
    case .result(.ended(let run)): return run
    case .result(.stuck(let reason)): throw DurableRunError(id, .stuck(because: reason))
    case .result(.ran): return nil
    case .result(.parked(let wake?)):
      clock.skip(to: wake)
      return nil
    case .result(.parked(nil)), .result(.taken):
      let event = try await store.backend.run(id)?.event ?? ""
      throw CrashTrialError(
        description: """
          the run waits for the event '\(event)'; start it by `store.start` and send the event \
          before you ask the trial for its outcome
          """)
    case .error(let error): throw error
    case .cancelled: throw CancellationError()
    }
  }
}

private struct AttemptOperation: ComposableOperation {
  let driver: RunDriver

  func perform(in context: OperationContext) async throws -> RunProgress {
    try await driver.attempt(in: context)
  }
}

/// An error of the use of a ``CrashTrial``.
public struct CrashTrialError: Error, Hashable, Sendable, CustomStringConvertible {
  public let description: String
}
