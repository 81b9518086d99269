public import Foundation

/// The state of a run in a store.
public enum RunState: String, Codable, Sendable, CaseIterable {
  /// It waits for a worker.
  case ready
  /// A process runs it.
  case running
  /// The process that ran it has ended without an outcome. The next worker that knows its flow continues it.
  ///
  /// No row of a store has this state: it follows from the end of the process.
  case interrupted
  /// It waits for a time or an event, and uses no worker.
  case parked
  /// It cannot continue until the program is fixed. ``RunStore/retry(_:from:)`` resumes it.
  case stuck
  /// The run has ended in an output.
  case result
  /// The run has ended in an error.
  case error
  /// The run was cancelled.
  case cancelled

  /// Whether the run has an outcome.
  public var hasEnded: Bool {
    switch self {
    case .ready, .running, .interrupted, .parked, .stuck: false
    case .result, .error, .cancelled: true
    }
  }
}

/// A run, as a list of runs shows it.
public struct RunSummary: Sendable, Identifiable {
  /// The name of the run.
  public let id: RunID
  /// The name of the flow.
  public let flow: String
  /// Its state when it was read.
  public let state: RunState
  /// The number of finished steps, kept or not.
  public let step: Int
  /// The number of times that a worker has claimed the run since the last finished step.
  public let attempt: Int
  /// When a parked run continues at the latest; nil if it waits for an event without a limit, or is
  /// not parked.
  public let wakes: Date?
  /// The event that a parked run waits for.
  public let event: String?
  /// Why the run is stuck or was cancelled; of a run that has ended in an error, the first line of its description.
  public let reason: String?
  /// The run that started this one as a child flow.
  public let parent: RunID?
  /// The number of the process that runs it.
  public let owner: Int?
  /// The machine and the process that run it, or, in PostgreSQL, ran it last; nil if the store does not know them.
  public let worker: String?
  /// Whether the process that runs it has ended without releasing it. The next worker takes the run
  /// over.
  public let ownerHasEnded: Bool
  /// Why it cannot be judged whether the process that runs it lives; nil if it can be. Such a process counts as
  /// living, so no other one takes the run over.
  public let ownerProblem: String?
  /// When the run was started.
  public let began: Date
  /// When the run last changed.
  public let updated: Date
  /// When the run ended; nil if it has not.
  public let ended: Date?
  /// When its cancellation was requested.
  public let cancelled: Date?
}

/// The number of runs of a flow in a state.
package struct RunCount: Hashable, Sendable {
  /// The name of the flow.
  package let flow: String
  /// The state of the runs.
  package let state: RunState
  /// Their number.
  package let count: Int

  package init(flow: String, state: RunState, count: Int) {
    self.flow = flow
    self.state = state
    self.count = count
  }
}

/// All runs of a flow in a state. A parked run whose time has come counts as ready since then.
package struct RunTotals: Hashable, Sendable {
  /// The name of the flow.
  package let flow: String
  /// The state of the runs.
  package let state: RunState
  /// Their number.
  package let count: Int
  /// For how long they have not changed, in milliseconds: the longest of these times.
  package let age: Int64
  /// The sum of the times from their starts to their ends, in milliseconds; 0 if they have not ended.
  package let durations: Int64

  package init(flow: String, state: RunState, count: Int, age: Int64, durations: Int64) {
    (self.flow, self.state, self.count) = (flow, state, count)
    (self.age, self.durations) = (age, durations)
  }
}

/// A run with its finished steps.
public struct RunDetails: Sendable {
  /// A finished step, or a value that the step in progress has stored.
  public struct Step: Sendable {
    /// The position of the step, from 0.
    public let position: Int
    /// The keys of a value that the step in progress has stored, separated by slashes; empty for a
    /// finished step.
    public let key: String
    /// The name of the operation.
    public let name: String
    /// The kind of the value.
    public let kind: Kind
    /// The result, the error or nil, as it is stored.
    public let value: String?
    /// The state of the sequence after the step, if it changed.
    public let state: String?
    /// The number of attempts.
    public let attempts: Int
    /// When the step began.
    public let began: Date
    /// When the step, or the value, was stored.
    public let ended: Date
    /// The fence of the process that has finished the step.
    public let fence: Int
    /// The machine and the process that have finished the step; nil if the store does not keep them.
    public let worker: String?
  }

  /// The kind of a stored row of a step or a key.
  public enum Kind: String, Sendable, Codable {
    case result, error, cancelled
    /// A number of attempts that have begun.
    case attempts
    /// A time at which a wait ends.
    case wake
  }

  /// The run without its steps.
  public let summary: RunSummary
  /// The finished steps that are kept, and the values of the step in progress.
  public let steps: [Step]
  /// The step that the run performs, if that takes long; nil if it is not known.
  let running: RunningStep?
  /// The outcome, as it is stored; nil if the run has not ended.
  public let outcome: String?
  /// The state of the sequence.
  public let sequence: String
}
