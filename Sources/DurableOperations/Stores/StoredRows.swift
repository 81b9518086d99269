package import CompositeOperations

// The rows that the requests of a store take and return.

/// A run that a request starts.
package struct NewRun: Sendable {
  /// The name of the run.
  package let id: RunID
  /// The name of its flow.
  package let flow: String
  /// The encoded sequence.
  package let state: String
  /// The run that starts it as a child flow; nil if none does.
  package let parent: RunID?
  /// Whether the caller claims it next, so that no other worker may see it before.
  package let isClaimedNext: Bool

  package init(
    id: RunID, flow: String, state: String, parent: RunID? = nil, isClaimedNext: Bool = false
  ) {
    self.id = id
    self.flow = flow
    self.state = state
    self.parent = parent
    self.isClaimedNext = isClaimedNext
  }
}

/// A row of the table of runs.
package struct StoredRun: Sendable {
  /// The name of the run.
  package var id: RunID
  /// The name of its flow.
  package var flow: String
  /// Its state in the row. A running one may be of a process that has ended, see ``RunBackend/ownerState(of:)``.
  package var state: RunState
  /// The encoded sequence after the last finished step.
  package var sequence: String
  /// The encoded sequence of the start.
  package var initial: String
  /// The number of finished steps, kept or not.
  package var stepCount: Int
  /// The number of claims so far, by which later writes of earlier claims are refused.
  package var fence: Int
  /// The number of the process that runs it, on one machine; nil if none does.
  package var owner: Int?
  /// The number of claims since the last finished step.
  package var claims: Int
  /// When a parked run continues at the latest, in milliseconds since the beginning of 1970, UTC; nil for
  /// an event without a limit.
  package var wake: Int64?
  /// The event that a parked run waits for.
  package var event: String?
  /// When its cancellation was requested, in milliseconds since the beginning of 1970, UTC.
  package var cancelled: Int64?
  /// Why the run is stuck or was cancelled.
  package var reason: String?
  /// The encoded output, or the encoded error; nil if it has not ended, or was cancelled.
  package var outcome: String?
  /// The run that has started it as a child flow; nil if none has.
  package var parent: RunID?
  /// When it was started, in milliseconds since the beginning of 1970, UTC.
  package var began: Int64
  /// When its row last changed, in the same unit.
  package var updated: Int64
  /// When it ended, in the same unit; nil if it has not.
  package var ended: Int64?
  /// The machine and the process that run it; nil if ``owner`` identifies the process.
  package var worker: String?
  /// Whether its process has given no sign of life for the time of its lease.
  package var hasExpired = false
  /// How many claims in a row have ended with their process, without a finished step.
  package var interruptions = 0
  /// Whether it may be what has ended its processes: a worker then runs it while it runs nothing else.
  package var isSuspect: Bool { interruptions >= Self.suspectInterruptions }
  /// How many interrupted claims make a run a suspect.
  package static let suspectInterruptions = 2
  /// Whether its process has run nothing else since the claim, apart from runs above it.
  package var isAlone = false
  /// The span of the run; nil if the store keeps none. SQLite files keep none, because the processes
  /// that share one are on one machine.
  package var trace: RunTrace?

  package init(
    id: RunID, flow: String, state: RunState, sequence: String, initial: String, stepCount: Int,
    fence: Int, owner: Int? = nil, claims: Int, wake: Int64?, event: String?, cancelled: Int64?,
    reason: String?, outcome: String?, parent: RunID?, began: Int64, updated: Int64, ended: Int64?,
    worker: String? = nil
  ) {
    self.id = id
    self.flow = flow
    self.state = state
    self.sequence = sequence
    self.initial = initial
    self.stepCount = stepCount
    self.fence = fence
    self.owner = owner
    self.claims = claims
    self.wake = wake
    self.event = event
    self.cancelled = cancelled
    self.reason = reason
    self.outcome = outcome
    self.parent = parent
    self.began = began
    self.updated = updated
    self.ended = ended
    self.worker = worker
  }
}

/// A row of the table of steps: a finished step, or a key of the step in progress.
package struct StoredStep: Sendable {
  /// The position of the step among the finished ones, also for its keys.
  package var position: Int
  /// The keys below the step, separated by slashes; empty for the finished step itself.
  package var key: String
  /// The name of the operation, under which its rows are stored.
  package var name: String
  /// The names of the types of the operation and its result.
  package var types: StepTypes
  /// The mangled name of the operation's type; empty if a program cannot look it up.
  package var mangledName: String
  /// The kind of the value.
  package var kind: RunDetails.Kind
  /// The encoded result or error, or what the kind says; nil for a cancellation.
  package var value: String?
  /// The encoded sequence after the step; nil if it has not changed.
  package var sequence: String?
  /// The number of attempts.
  package var attempts: Int
  /// The fence of the claim that has stored it.
  package var fence: Int
  /// When it began, in milliseconds since the beginning of 1970, UTC.
  package var began: Int64
  /// When it was stored, in the same unit.
  package var ended: Int64
  /// The machine and the process that have stored it; nil if the store does not keep them.
  package var worker: String?
  /// The events that a finished step has received. A row that was read has none.
  package var events: [String] = []

  package init(
    position: Int, key: String = "", name: String,
    types: StepTypes = StepTypes(operations: [], success: ""), mangledName: String = "",
    kind: RunDetails.Kind, value: String?, sequence: String? = nil, attempts: Int = 1, fence: Int,
    began: Int64, ended: Int64, worker: String? = nil
  ) {
    self.position = position
    self.key = key
    self.name = name
    self.types = types
    self.mangledName = mangledName
    self.kind = kind
    self.value = value
    self.sequence = sequence
    self.attempts = attempts
    self.fence = fence
    self.began = began
    self.ended = ended
    self.worker = worker
  }
}

/// An event that was sent to a run.
package struct StoredEvent: Sendable {
  /// The name that the sender gave it.
  package let name: String
  /// The encoded payload.
  package let payload: String
  /// When it was sent, in milliseconds since the beginning of 1970, UTC.
  package let sent: Int64

  package init(name: String, payload: String, sent: Int64) {
    (self.name, self.payload, self.sent) = (name, payload, sent)
  }
}

/// A value, with the row that stores it.
package struct CommittedValue<Value: Sendable>: Sendable {
  /// The value of the closure.
  package let value: Value
  /// The row that was stored in the same transaction.
  package let row: StoredStep

  package init(_ value: Value, in row: StoredStep) {
    self.value = value
    self.row = row
  }
}

/// What a run has stored.
package struct StoredParts: Sendable {
  /// The finished steps in order.
  package let steps: [StoredStep]
  /// The keys of the step in progress.
  package let keys: [StoredStep]

  package init(steps: [StoredStep], keys: [StoredStep]) {
    self.steps = steps
    self.keys = keys
  }
}

/// Which runs a list shows, the newest first.
package struct RunSelection: Sendable {
  /// The names of the flow, also former ones; empty for any flow.
  package var flows: [String]
  /// The states; empty for any.
  package var states: [RunState]
  /// A part of the name, in which upper and lower case of ASCII are equal; nil for any name.
  package var text: String?
  /// The run that started the runs as child flows; nil for any.
  package var parent: RunID?
  /// The earliest time at which a run began, in milliseconds since the beginning of 1970, UTC; nil for
  /// any.
  package var since: Int64?
  /// The largest number of runs.
  package var limit: Int
  /// The last run of the page before.
  package var after: (began: Int64, id: RunID)?

  package init(
    flows: [String] = [], states: [RunState] = [], text: String? = nil, parent: RunID? = nil,
    since: Int64? = nil, limit: Int = .max, after: (began: Int64, id: RunID)? = nil
  ) {
    self.flows = flows
    self.states = states
    self.text = text
    self.parent = parent
    self.since = since
    self.limit = limit
    self.after = after
  }
}

/// The right to write for a run, until another process claims it.
package struct ClaimToken: Sendable, Hashable {
  /// The name of the run.
  package let run: RunID
  /// The number of the claim, which each later claim of the run exceeds.
  package let fence: Int
  /// The parent of the run.
  package let parent: RunID?

  package init(run: RunID, fence: Int, parent: RunID? = nil) {
    self.run = run
    self.fence = fence
    self.parent = parent
  }
}

/// A run that this process may run.
package struct RunClaim: Sendable {
  /// The right to write for it.
  package let token: ClaimToken
  /// The run at the claim.
  package let run: StoredRun
  /// Whether no earlier claim can have stored anything.
  package let isFirst: Bool

  package init(_ run: StoredRun, isFirst: Bool) {
    token = ClaimToken(run: run.id, fence: run.fence, parent: run.parent)
    self.run = run
    self.isFirst = isFirst
  }
}

/// The answer to the claim of a run by its name.
package enum ClaimAnswer: Sendable {
  case claimed(RunClaim)
  /// The run has ended, or is stuck.
  case over(StoredRun)
  /// Another process, or another task of this one, runs it.
  case taken
  /// It waits for a time or an event.
  case parked(until: Int64?)
  case missing
}
