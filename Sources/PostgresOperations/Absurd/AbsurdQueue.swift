/// The tables of a queue of Absurd.
///
/// Writes of the engine are calls of its functions. The tables are read, and their rows deleted or
/// made due, only by the statements in this folder. ``AbsurdSchema`` has the supported versions of
/// the schema. These columns are used:
///
/// - tasks: `task_id`, `task_name`, `params`, `headers`, `enqueue_at`, `first_started_at`, `state`,
///   `attempts`, `last_attempt_run`, `completed_payload`, `cancelled_at`, `idempotency_key`;
/// - attempts: `run_id`, `task_id`, `attempt`, `state`, `claimed_by`, `claim_expires_at`,
///   `available_at`, `wake_event`, `event_payload`, `started_at`, `completed_at`, `failed_at`,
///   `failure_reason`, `created_at`;
/// - checkpoints: `task_id`, `checkpoint_name`, `state`, `updated_at`;
/// - events: `event_name`, `payload`, `emitted_at`;
/// - waits: `task_id`, `run_id`, `timeout_at`.
struct AbsurdQueue: Sendable {
  let name: String
  let reads: ReadStatements
  let claims: ClaimStatements
  let requests: RequestStatements

  init(_ name: String) {
    self.name = name
    let tables = AbsurdTables(name)
    reads = ReadStatements(tables)
    claims = ClaimStatements(tables)
    requests = RequestStatements(tables)
  }
}

/// The quoted names of the tables of a queue.
struct AbsurdTables {
  let tasks, attempts, checkpoints, events, waits: String

  init(_ queue: String) {
    func table(_ prefix: String) -> String { "absurd." + PostgresName.quoted(prefix + queue) }
    tasks = table("t_")
    attempts = table("r_")
    checkpoints = table("c_")
    events = table("e_")
    waits = table("w_")
  }
}
