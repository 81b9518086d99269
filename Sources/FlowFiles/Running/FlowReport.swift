public import Foundation
import SystemSupport

/// How a run of a flow file has ended, or how far it is.
public struct FlowReport: Sendable {
  /// The name of the flow.
  public let flow: String
  /// The number of the run.
  public let run: Int
  /// The name that ``FlowRunOptions/name`` gave the run.
  public let name: String?
  public let began: Date
  public let state: FlowRunState
  /// The number of the process that works on the run; nil if none does.
  public let process: Int32?
  /// Why the run was cancelled; nil for another state.
  package let cancellationReason: String?
  /// How the steps have ended, in the order of the file, and after them the failed children. A step that
  /// no option includes, or that has not ended, has none.
  public let ends: [FlowEnd]
  /// The steps that the run was limited to, as options of the command line.
  package let selection: String?
  /// The steps and the children that have begun and have not ended.
  private let begun: [ExactText: FlowStepRecord]
  private let indices: [ExactText: Int]

  init(
    _ file: FlowFile, _ run: FlowRunRecord, _ state: FlowRunState, _ ends: [FlowEnd],
    _ begun: [ExactText: FlowStepRecord] = [:]
  ) {
    self.begun = begun
    (flow, self.run, name, self.state) = (file.name, run.number, run.name, state)
    (began, selection) = (Date(milliseconds: run.began), run.selection)
    process = state == .running ? run.process : nil
    cancellationReason = state == .cancelled ? run.reason : nil
    self.ends = ends
    indices = Dictionary(ends.enumerated().map { (ExactText($1.unit), $0) }) { first, _ in first }
  }

  /// Returns how a step or a failed child has ended; nil if it has not.
  public func end(of step: String) -> FlowEnd? { indices[ExactText(step)].map { ends[$0] } }

  /// Returns the states of the steps, with the reason or the time of each. The children that run or were interrupted
  /// follow.
  package func steps(of file: FlowFile) -> [(name: String, state: String, detail: String)] {
    let isLive = state == .running
    let selected = selection.flatMap { try? FlowSelection(text: $0).steps(of: file) }
    var states: [String: FlowStepStatus] = [:]
    for index in file.order {
      let step = file.steps[index]
      let (needs, after) = file.beginningDependencies(of: step)
      let hasBegun = begun[ExactText(step.name)] != nil
      let end = end(of: step.name)
      states[step.name] =
        hasBegun || end != nil
        ? FlowStepStatus(end?.state, isLive: isLive)
        : FlowStepStatus(
          unbegun: selected?.contains(step.name) ?? true, isLive: isLive,
          needs: needs.compactMap { states[$0] }, after: after.compactMap { states[$0] })
    }
    let children = begun.values.filter { $0.parent != nil }.map(\.unit).sorted()
    return file.steps.map { step in
      let state = end(of: step.name)?.state.rawValue ?? states[step.name]?.rawValue ?? ""
      return (step.name, state, detail(of: step.name, isLive))
    } + children.map { ($0, FlowStepStatus(nil, isLive: isLive).rawValue, detail(of: $0, isLive)) }
  }

  /// The reason of the end or the duration of a step; for a step that runs, the time since it began.
  private func detail(of name: String, _ isLive: Bool) -> String {
    if let end = end(of: name) { return end.reason ?? end.duration?.readableTime ?? "" }
    guard isLive, let record = begun[ExactText(name)], let began = record.began else { return "" }
    let attempt = (record.attempts ?? 0) > 1 ? ", attempt \(record.attempts ?? 0)" : ""
    return Duration.milliseconds(max(0, FlowStepRecord.now - began)).readableTime + attempt
  }

  /// Reads a run from the journal.
  ///
  /// - Parameter isRunning: Whether a process has the lock of the run.
  init(
    _ file: FlowFile, _ run: FlowRunRecord, _ journal: FlowJournal, isRunning: Bool
  ) async throws {
    let records = try await journal.records(preferring: [run.number], sharing: [:])
    let ends = try await journal.ends(ofRun: run.number)
    let steps = file.steps.compactMap { step in
      let record = records[ExactText(step.name)]
      let ownRecord = record?.run == run.number ? record : nil
      guard let end = ends[ExactText(step.name)] ?? ownRecord.map({ FlowEnd($0) }) else {
        return nil as FlowEnd?
      }
      return end.state == .succeeded ? record.map { FlowEnd($0) } ?? end : end
    }
    let children = ends.values.filter { $0.unit.contains("[") }
      .sorted { ExactText($0.unit) < ExactText($1.unit) }
    self.init(
      file, run, run.state(isLocked: isRunning),
      steps + children, run.state == nil ? try await journal.begun(ofRun: run.number) : [:])
  }
}

extension FlowEnd {
  fileprivate init(_ record: FlowRecord) {
    self.init(
      unit: record.unit, state: .succeeded, duration: .nanoseconds(record.duration))
  }
}

/// How a run of a flow file ended.
public enum FlowRunState: String, Sendable {
  /// Also if all steps were up to date.
  case succeeded
  case failed
  /// It was cancelled, such as by Ctrl-C, or its process has ended. It can be continued.
  case interrupted
  /// Another program has cancelled it, or a later run has replaced it.
  case cancelled
  case running
}

/// The error of a run of a flow file in which a step has failed, or that another program has cancelled.
public struct FlowRunError: Error, CustomStringConvertible {
  public let report: FlowReport
  /// The messages of the failed steps with the last lines of their output, and a summary.
  public let messages: [String]

  public var description: String { messages.joined(separator: "\n") }
}
