package import DurableOperations
import SystemSupport

/// The runs that a person selects, as a list shows them, to look at them or to act on all of them.
package struct SelectedRuns: Sendable {
  /// The selection; its limit and its page do not count.
  private var selection: RunSelection
  /// A part of why a run has failed, is stuck or was cancelled, without regard to case; nil for any run.
  private let reason: String?

  /// - Parameters:
  ///   - selection: The selection. Its limit and its page do not count.
  ///   - reason: A part of why a run has failed, is stuck or was cancelled; nil for any run.
  ///   - action: What to do with the runs. Without states, the selection has those that it is for.
  package init(
    _ selection: RunSelection, because reason: String? = nil, for action: RunAction? = nil
  ) {
    self.selection = selection
    self.reason = reason?.lowercased()
    if self.selection.states.isEmpty, let action { self.selection.states = action.states }
  }

  /// Passes the runs on in pages, the newest first.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of runs.
  ///   - body: Receives at most 1,000 runs, and at least one.
  package func eachPage(
    of store: RunStore, limit: Int = .max, _ body: ([RunSummary]) async throws -> Void
  ) async throws {
    var selection = selection
    (selection.limit, selection.after) = (1_000, nil)
    var rest = limit
    while rest > 0 {
      if reason == nil { selection.limit = min(rest, 1_000) }
      let page = try await store.runs(selection)
      selection.after = page.last.map(RunSelection.position)
      let selected = page.filter(hasReason).prefix(rest)
      rest -= selected.count
      if !selected.isEmpty { try await body(Array(selected)) }
      if page.count < selection.limit { return }
    }
  }

  private func hasReason(_ run: RunSummary) -> Bool {
    reason.map { run.reason?.lowercased().contains($0) ?? false } ?? true
  }

  /// The names of the runs, the newest first.
  package func names(in store: RunStore) async throws -> [RunID] {
    var names: [RunID] = []
    try await eachPage(of: store) { names += $0.map(\.id) }
    return names
  }

  /// Does something with each of some runs that is still selected by then.
  ///
  /// - Parameters:
  ///   - names: The names of the runs.
  ///   - body: Acts on a run.
  /// - Returns: What has happened.
  package func act(
    on names: [RunID], in store: RunStore, _ body: (RunSummary) async throws -> Void
  ) async -> Report {
    var report = Report()
    for name in names {
      do {
        // Since the selection, the run can have continued, or another person can have acted on it.
        let run = try await store.summary(of: name)
        let isSelected =
          run.map {
            (selection.states.isEmpty || selection.states.contains($0.state)) && hasReason($0)
          }
        guard let run, isSelected == true else {
          report.left += 1
          continue
        }
        try await body(run)
        report.done += 1
      } catch {
        report.failures.append((name, error))
      }
    }
    return report
  }

  /// How an action on several runs has ended.
  package struct Report: Sendable, CustomStringConvertible {
    /// For how many runs it is done.
    package fileprivate(set) var done = 0
    /// How many runs were not selected any more when it was their turn.
    package fileprivate(set) var left = 0
    /// The errors of the other runs.
    package fileprivate(set) var failures: [(name: RunID, error: any Error)] = []

    package var description: String {
      "done for \(done.counted("run"))"
        + (failures.isEmpty ? "" : ", failed for \(failures.count.grouped)")
        + (left == 0 ? "" : ", not needed any more for \(left.grouped)")
    }
  }
}
