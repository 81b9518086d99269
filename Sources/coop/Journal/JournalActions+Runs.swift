import CommandLineOperations
import DurableOperations
import RunPage
import SystemSupport

/// `cancel`, `retry` and `forget`, of one run or of those that options select.
extension JournalActions {
  /// Cancels, retries or forgets a run.
  ///
  /// - Returns: A sentence about the effect.
  func perform(on run: RunSummary) async throws -> String {
    switch arguments.action {
    case .cancel: return try await cancel(run)
    case .retry:
      try await recording(arguments.step.map { "from step \($0)" }, on: run.id) {
        try await store.retry(run.id, from: arguments.step)
      }
      let flow = (try await store.summary(of: run.id) ?? run).flow
      return "run \(run.id) is ready; a program that knows the flow \(flow) continues it"
    case .forget:
      try await recording(nil, on: run.id) { try await store.forget(run.id) }
      return "forgot run \(run.id)"
    case .list, .show, .send, .check, .copy, .serve, .`init`:
      preconditionFailure("\(arguments.action) does not change a run")
    }
  }

  private func cancel(_ run: RunSummary) async throws -> String {
    if run.state.hasEnded {
      return "run \(run.id) has already ended (\(run.state.rawValue)); nothing is changed"
    }
    try await recording(arguments.reason, on: run.id) {
      try await store.cancel(run.id, because: arguments.reason)
    }
    let now = try await store.summary(of: run.id)
    return now?.state.hasEnded ?? true
      ? "run \(run.id) is cancelled"
      : "the cancellation of run \(run.id) is stored; "
        + "the process that runs it ends it, or the next one that continues it"
  }

  /// The runs that the options select.
  var selected: SelectedRuns {
    var selection = store.selection(
      of: arguments.flow, in: arguments.states, startedWithin: arguments.since)
    selection.text = arguments.text
    return SelectedRuns(
      selection, because: arguments.failure, for: RunAction(rawValue: arguments.action.rawValue))
  }

  /// Acts on the selected runs, if the arguments confirm their number.
  ///
  /// - Returns: The exit status.
  func performOnSelection() async throws -> Int32 {
    let selected = selected
    let ids = try await selected.names(in: store)
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
    let done = await selected.act(on: ids, in: store) { _ = try await perform(on: $0) }
    for (name, error) in done.failures {
      standardError.writeFailure("coop journal: \("run \(name): \(error)".onOneLine)")
    }
    report("\(action): \(done)")
    return done.failures.isEmpty ? ExitStatus.success : ExitStatus.failure
  }
}
