import DurableOperations
import Foundation
import SystemSupport

/// The last run of a flow and its steps, for display.
package struct FlowStatus: Sendable {
  /// The run with its state.
  package let title: String
  /// The name of each step and failed child, its state, and its duration or the reason of the state.
  package let rows: [[String]]

  fileprivate init(
    _ file: FlowFile, _ run: FlowRunRecord, _ journal: FlowJournal
  ) async throws {
    let summary = try await journal.store.summary(of: journal.id(ofRun: run.number))
    let records = try await journal.records(preferring: [run.number], sharing: [:])
    let ends = try await journal.ends(ofRun: run.number)
    var rows: [[String]] = []
    for step in file.steps {
      let record = records[ExactText(step.name)]
      if let end = ends[ExactText(step.name)] {
        let duration =
          end.state == .succeeded
          ? record.map { Duration.nanoseconds($0.duration).readableTime } : nil
        rows.append([step.name, end.state.rawValue, duration ?? end.reason ?? ""])
      } else if let record, record.run == run.number {
        rows.append([
          step.name, FlowEnd.State.succeeded.rawValue,
          Duration.nanoseconds(record.duration).readableTime,
        ])
      } else {
        rows.append([step.name, "not ended", ""])
      }
    }
    for end in ends.values.sorted(by: { ExactText($0.unit) < ExactText($1.unit) })
    where end.unit.contains("[") {
      rows.append([end.unit, end.state.rawValue, end.reason ?? ""])
    }
    title = Self.title(file.name, run, summary)
    self.rows = rows
  }

  private static func title(
    _ name: String, _ run: FlowRunRecord, _ summary: RunSummary?
  ) -> String {
    let began = Date(milliseconds: run.began).timeWithSeconds
    let options = run.selection.map { " with \($0)" } ?? ""
    let number = "\(run.number)" + (run.name.map { " (\($0))" } ?? "")
    let state =
      switch summary?.state {
      case .result: "succeeded"
      case .error: "failed"
      case .cancelled: "replaced by a later run"
      case .running where summary?.ownerHasEnded == false: "running"
      case .running, .ready, .parked, .stuck, nil: "interrupted"
      }
    return "run \(number) of '\(name)'\(options), began at \(began): \(state)"
  }
}

/// What the journal and the logs have of the runs of a flow file.
package struct FlowHistory: Sendable {
  private let file: FlowFile
  private let folder: FlowFolder

  /// - Parameter path: The path of the journal; nil for the default.
  package init(of file: FlowFile, journal path: String?) {
    self.file = file
    folder = FlowFolder(ofFile: file.path, flow: file.name, journal: path)
  }

  /// Returns the last run; nil if the flow has not run yet.
  package func status() async throws -> FlowStatus? {
    if FileSystem.isMissing(folder.journal) { return nil }
    let journal = FlowJournal(of: file.name, in: folder)
    try await journal.open()
    do {
      let run = try await journal.lastRun()
      let status: FlowStatus? =
        if let run { try await FlowStatus(file, run, journal) } else { nil }
      await journal.close()
      return status
    } catch {
      await journal.close()
      throw error
    }
  }

  /// Returns the log of a step or a child.
  ///
  /// - Throws: A problem of the file if there is no such step; an error if there is no log.
  package func log(of name: String) throws -> [UInt8] {
    try file.checkStep(name.utf8.last == UInt8(ascii: "]") ? name.stepName : name)
    do { return try FileDescriptor.contents(ofFile: folder.log(of: name)) } catch {
      guard error.isMissing else { throw error }
      throw FlowFailure.other("'\(name.onOneLine)' has no log; it has not run yet")
    }
  }
}
