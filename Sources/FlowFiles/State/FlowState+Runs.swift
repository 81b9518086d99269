public import Foundation
import SystemSupport

/// A run of a flow file, as ``FlowState/runs()`` lists it.
public struct FlowRunSummary: Sendable {
  /// The number of the run.
  public let run: Int
  /// The name that ``FlowRunOptions/name`` gave the run.
  public let name: String?
  /// The texts of the values.
  public let values: [String: String]
  /// The steps that the run was limited to, as arguments of `coop flow run`; nil for all steps.
  public let selection: String?
  /// The state as it is now. A run whose process has ended without storing it is interrupted.
  public let state: FlowRunState
  /// The number of the process that works on the run; nil if none does.
  public let process: Int32?
  /// Why the run has failed or was cancelled; nil for another state.
  public let reason: String?
  /// When the run began for the first time.
  public let began: Date
  /// The time from then until its end, the last sign of its process, or now if it is running. It includes
  /// the time between two processes that have worked on the run.
  public let duration: Duration

  /// - Parameters:
  ///   - last: When the run was last worked on, in milliseconds since 1970.
  ///   - isLocked: Whether a process has the lock of the run.
  fileprivate init(_ record: FlowRunRecord, last: Int64, isLocked: Bool) {
    (run, name, selection) = (record.number, record.name, record.selection)
    values =
      (try? JSONDecoder().decode([String: String].self, from: Data(record.values.utf8))) ?? [:]
    state = record.state(isLocked: isLocked)
    process = state == .running ? record.process : nil
    reason = state == .failed || state == .cancelled ? record.reason : nil
    began = Date(milliseconds: record.began)
    let end = state == .running ? FlowStepRecord.now : last
    duration = .milliseconds(max(0, end - record.began))
  }
}

extension FlowState {
  /// Returns the runs of the flow in the order in which they have begun. The last thousand are stored.
  ///
  /// - Throws: An error of the file of the state.
  public func runs() async throws -> [FlowRunSummary] {
    try await reading { journal in
      try await journal?.allRuns().map { run, last in
        // Only a run that has not ended can be in progress.
        FlowRunSummary(
          run, last: last, isLocked: run.process != nil && folder.isRunning(run.number))
      } ?? []
    }
  }
}
