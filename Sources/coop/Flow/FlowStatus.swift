import CommandLineOperations
import DurableOperations
import FlowFiles
import Foundation
import SystemSupport

/// The last run of a flow and its steps, as text.
struct FlowStatus {
  let text: String

  init(_ file: FlowFile, _ journal: FlowJournal, _ folder: FlowFolder) async throws {
    guard let run = try await journal.lastRun(ofAllSteps: false) else {
      text = "'\(file.name)' has not run yet"
      return
    }
    let summary = try await journal.store.summary(of: journal.id(ofRun: run.number))
    let stamps = try await journal.journaledStamps(ofRun: run.number)
      .reduce(into: try await journal.stamps(sharing: [:])) { $0[$1.unit] = $1 }
    let ends = try await journal.ends(ofRun: run.number)
    var rows: [[String]] = []
    for step in file.steps {
      let stamp = stamps[step.name]
      if let end = ends[step.name] {
        let duration =
          end.state == .succeeded
          ? stamp.map { Duration.nanoseconds($0.duration).readableTime } : nil
        rows.append([step.name, end.state.rawValue, duration ?? end.reason ?? ""])
      } else if let stamp, stamp.run == run.number {
        rows.append([
          step.name, FlowEnd.State.succeeded.rawValue,
          Duration.nanoseconds(stamp.duration).readableTime,
        ])
      } else {
        rows.append([step.name, "not ended", ""])
      }
    }
    for end in ends.values.sorted(by: { $0.unit < $1.unit }) where end.unit.contains("[") {
      rows.append([end.unit, end.state.rawValue, end.reason ?? ""])
    }
    var table = TableLayout(numbers: [], width: StandardOutput().width)
    text = Self.title(file.name, run, summary) + "\n" + table.text(of: rows)
  }

  private static func title(
    _ name: String, _ run: FlowRunRecord, _ summary: RunSummary?
  ) -> String {
    let began = Date(milliseconds: run.began).timeWithSeconds
    let options = run.selection.map { " with \($0)" } ?? ""
    let state =
      switch summary?.state {
      case .result: "succeeded"
      case .error: "failed"
      case .cancelled: "replaced by a later run"
      case .running where summary?.ownerHasEnded == false: "running"
      case .running, .ready, .parked, .stuck, nil: "interrupted"
      }
    return "run \(run.number) of '\(name)'\(options), began at \(began): \(state)"
  }
}
