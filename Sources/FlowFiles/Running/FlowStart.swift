import CompositeOperations
import DurableOperations
import Foundation
import SystemSupport

/// The beginning of a run: a new one, or the last one, which has not succeeded.
struct FlowStart: Sendable {
  let run: FlowRunRecord
  let isResumed: Bool
  /// The state of the resumed run in the journal; nil for a new run.
  private let summary: RunSummary?
  /// The earlier runs that the new one replaces.
  private let replaced: [FlowRun]
  /// The last successes by the name of the step or the child.
  let stamps: [String: FlowStamp]
  let flow: FlowRun
  /// Whether the process of the last run has ended before the run.
  let mayHaveOrphans: Bool

  /// Decides whether a run is resumed, and stores the successes of interrupted runs.
  ///
  /// - Parameters:
  ///   - path: The path of the flow file.
  ///   - selection: The options that select steps. A run of some steps is always a new one.
  ///   - definitions: The definitions of the steps by name, which most of the successes have.
  init(
    _ file: FlowFile, path: String, journal: FlowJournal, selection: String?, isFresh: Bool,
    definitions: [String: String]
  ) async throws {
    let last = try await journal.lastRun(ofAllSteps: false)
    let lastOfAll = try await journal.lastRun(ofAllSteps: true)
    var open: [FlowRun] = []
    var mayHaveOrphans = false
    var resumed: (FlowRunRecord, RunSummary?)?
    let fullPath = URL(fileURLWithPath: path).standardizedFileURL.path
    let values = Self.json(file.texts)
    let runs = last?.number == lastOfAll?.number ? [last] : [last, lastOfAll]
    for run in runs.compactMap(\.self) {
      let summary = try await journal.store.summary(of: journal.id(ofRun: run.number))
      switch summary?.state {
      case .result, .cancelled: continue
      case .ready, .running, .parked, .stuck, .error, nil: break
      }
      if summary?.state.hasEnded != true { mayHaveOrphans = true }
      try await journal.storeSuccesses(ofRun: run.number)
      if selection == nil, !isFresh, run.selection == nil, run.file == fullPath,
        run.values == values
      {
        resumed = (run, summary)
      } else if summary?.state.hasEnded == false, selection == nil || run.selection != nil {
        let values = try JSONRunCoder().decode([String: String].self, from: run.values)
        open.append(
          FlowRun(
            flow: file.name, number: run.number, values: values, selection: run.selection))
      }
    }
    replaced = open
    self.mayHaveOrphans = mayHaveOrphans
    stamps = try await journal.stamps(sharing: definitions)
    isResumed = resumed != nil
    summary = resumed?.1
    run =
      resumed?.0
      ?? FlowRunRecord(
        number: (last?.number ?? 0) + 1, file: fullPath, values: values, selection: selection,
        began: EventTime.wallClockNow / 1_000_000)
    flow = FlowRun(
      flow: file.name, number: run.number, values: file.texts, selection: selection)
  }

  /// The values as JSON with sorted names.
  private static func json(_ values: [String: String]) -> String {
    var json = JSONWriter()
    json.object { json in
      for (name, text) in values.sorted(by: { $0.key < $1.key }) { json.member(name, text) }
    }
    return json.text
  }

  /// Stores the beginning of the run.
  func begin(in journal: FlowJournal) async throws {
    for run in replaced {
      let id = journal.id(ofRun: run.number)
      try await journal.store.cancel(id, because: "run \(self.run.number) replaces it")
      // Its process has ended, so nothing else ends it. A cancelled run begins no step.
      _ = await DurableOperation(run, named: id, in: journal.store).run()
    }
    if isResumed {
      try await journal.successesWillBeAdded(toRun: run.number)
      // A run that failed, or that was claimed too often without a success, has to be opened again.
      switch summary?.state {
      case .error, .stuck, .parked: try await journal.store.retry(journal.id(ofRun: run.number))
      case .ready, .running, .result, .cancelled, nil: break
      }
    } else {
      try await journal.add(run)
    }
  }

  /// The message about a run that is resumed; nil for a new run.
  func message(_ file: FlowFile, _ plan: FlowPlan) -> String? {
    guard isResumed else { return nil }
    let date = summary?.updated ?? Date(milliseconds: run.began)
    let end = summary?.state == .error ? "failed" : "interrupted"
    let done = plan.count { $0 == .done || $0 == .upToDate }
    let count = file.steps.count
    var text =
      "resuming run \(run.number) of '\(file.name)', \(end) at \(date.timeWithSeconds): "
      + "\(done) of \(count.counted("step")) \(count == 1 ? "is" : "are") done"
    let names = plan.redefined.map { "'\($0)'" }
    switch names.count {
    case 0: break
    case 1: text += "; \(names[0]) runs again because its definition changed"
    default:
      text += "; \(names.dropLast().joined(separator: ", ")) and \(names.last ?? "") run again "
      text += "because their definitions changed"
    }
    return text
  }
}
