import CommandLineOperations
import DurableOperations
import RunPage
import SystemSupport

/// `cancel`, `retry` and `forget`, of one run or of those that options select.
extension JournalActions {
  /// What an action has done with a run.
  struct Done {
    let message: String
    /// Whether it has changed something.
    var isChange = true
  }

  /// Cancels, retries or forgets a run.
  func perform(on run: RunSummary) async throws -> Done {
    switch arguments.action {
    case .cancel: return try await cancel(run)
    case .retry:
      try await recording(arguments.step.map { "from step \($0)" }, on: run.id) {
        try await store.retry(run.id, from: arguments.step)
      }
      let flow = (try await store.summary(of: run.id) ?? run).flow
      return Done(
        message: "run \(run.id) is ready; a program that knows the flow \(flow) continues it")
    case .forget:
      try await recording(nil, on: run.id) { try await store.forget(run.id) }
      return Done(message: "forgot run \(run.id)")
    case .list, .show, .send, .check, .copy, .serve, .`init`:
      preconditionFailure("\(arguments.action) does not change a run")
    }
  }

  private func cancel(_ run: RunSummary) async throws -> Done {
    if run.state.hasEnded {
      return Done(
        message: "run \(run.id) has already ended (\(run.state.rawValue)); nothing is changed",
        isChange: false)
    }
    try await recording(arguments.reason, on: run.id) {
      try await store.cancel(run.id, because: arguments.reason)
    }
    let now = try await store.summary(of: run.id)
    return Done(
      message: now?.state.hasEnded ?? true
        ? "run \(run.id) is cancelled"
        : "the cancellation of run \(run.id) is stored; "
          + "the process that runs it ends it, or the next one that continues it")
  }

  /// Passes the runs that the options select on, in pages, the newest first.
  func eachPage(_ body: ([RunSummary]) async throws -> Void) async throws {
    var selection = store.selection(
      of: arguments.flow, in: states, startedWithin: arguments.since)
    selection.text = arguments.text
    selection.limit = 1_000
    var rest = arguments.limit
    while rest > 0 {
      if arguments.failure == nil { selection.limit = min(rest, 1_000) }
      let page = try await store.runs(selection)
      selection.after = page.last.map(RunSelection.position)
      let selected = page.filter(hasReason).prefix(rest)
      rest -= selected.count
      if !selected.isEmpty { try await body(Array(selected)) }
      if page.count < selection.limit { return }
    }
  }

  /// The states of the selected runs: without `--state`, those that the action is for.
  private var states: Set<RunState> {
    if !arguments.states.isEmpty { return arguments.states }
    switch arguments.action {
    case .cancel: return Set(RunState.allCases.filter { !$0.hasEnded })
    case .retry: return [.error, .stuck]
    case .forget: return Set(RunState.allCases.filter(\.hasEnded))
    case .list, .show, .send, .check, .copy, .serve, .`init`: return []
    }
  }

  private func hasReason(_ run: RunSummary) -> Bool {
    guard let part = arguments.failure else { return true }
    return run.reason?.lowercased().contains(part.lowercased()) ?? false
  }

  /// Acts on the selected runs, if the arguments confirm their number.
  ///
  /// - Returns: The exit status.
  func performOnSelection() async throws -> Int32 {
    var ids: [RunID] = []
    try await eachPage { ids += $0.map(\.id) }
    let action = arguments.action.rawValue
    guard let confirmed = arguments.confirmed else {
      report(
        ids.isEmpty
          ? "no run is selected"
          : "\(ids.count.counted("run")) \(ids.count == 1 ? "is" : "are") selected, such as \(ids[0]); nothing is "
            + "changed. To \(action), add --confirm \(ids.count)")
      return ExitStatus.failure
    }
    guard confirmed == ids.count else {
      throw JournalError(
        "\(ids.count.counted("run")) \(ids.count == 1 ? "is" : "are") selected now, and --confirm is \(confirmed); "
          + "nothing is changed")
    }
    var (changes, failures) = (0, 0)
    for id in ids {
      do {
        // Since the selection, the run can have continued, or another user can have acted on it.
        guard let run = try await store.summary(of: id), states.contains(run.state), hasReason(run)
        else { continue }
        if try await perform(on: run).isChange { changes += 1 }
      } catch {
        failures += 1
        standardError.writeFailure("coop journal: \("run \(id): \(error)".onOneLine)")
      }
    }
    let left = ids.count - changes - failures
    report(
      "\(action): done for \(changes.counted("run"))"
        + (failures > 0 ? ", failed for \(failures.grouped)" : "")
        + (left > 0 ? ", not needed any more for \(left.grouped)" : ""))
    return failures > 0 ? ExitStatus.failure : ExitStatus.success
  }
}
