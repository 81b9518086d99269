/// The statements that claim runs, and the statements of the worker that has claimed one.
///
/// Each write of a claim checks in its own statement that the claim is valid. The first parameters of
/// such a statement are the queue ($1), the attempt ($2) and the worker ($3). It returns the number of
/// valid claims, 0 or 1.
struct ClaimStatements: Sendable {
  /// Claims due runs: $1 queue, $2 worker, $3 lease, $4 limit.
  let claim: PostgresStatement
  /// Permits ($1 `on`) or avoids sequential scans until the end of the transaction.
  let permitScans = PostgresStatement(
    "permit scans", "select set_config('enable_seqscan', $1, true)")
  /// Whether a run is due, or a lease has expired.
  let isAnyDue: PostgresStatement
  /// Claims the run with a name ($1) for a worker ($2) and the time of a lease ($3).
  let claimRun: PostgresStatement
  /// Ends an attempt ($2) of the queue ($1) whose lease has expired.
  let expire: PostgresStatement
  /// Releases an attempt ($2) that a worker ($1) has claimed and does not begin until $3 seconds from now. Does nothing
  /// if the claim is not valid any more.
  let giveBack: PostgresStatement
  /// The state of a claim: $1 attempt.
  let state: PostgresStatement

  /// Stores a checkpoint: $4 name, $5 state, $6 lease.
  let set: PostgresStatement
  /// Stores a checkpoint, and deletes others: $7 names, and all that begin with $8.
  let setAndRemove: PostgresStatement
  /// Deletes the keys of the step in progress.
  let removeKeys: PostgresStatement
  /// Parks or releases: $4 the time in milliseconds until the run is due. By the clock of the server,
  /// because clocks of machines differ.
  let schedule: PostgresStatement
  /// Ends the attempt as failed, so that another one is due after $4 milliseconds.
  let fail: PostgresStatement
  /// Deletes what the engine has kept of earlier waits, whose events may be deleted meanwhile: $1
  /// attempt, $2 worker.
  let removeWaits: PostgresStatement
  /// Waits for an event: $4 checkpoint, $5 event, $6 limit in seconds. Returns whether the run waits,
  /// and whether the event has come.
  let await: PostgresStatement
  /// Ends the run: $4 payload, $5 the event of its end, or null.
  let complete: PostgresStatement
  /// Extends the lease: $4 lease.
  let extend: PostgresStatement

  /// The reason of an attempt whose lease has expired, as the engine names it.
  static let timeout = "$ClaimTimeout"

  init(_ tables: AbsurdTables) {
    let (tasks, attempts, checkpoints) = (tables.tasks, tables.attempts, tables.checkpoints)
    func held(_ lock: String) -> String {
      """
      with held as materialized
        (select run_id, task_id from \(attempts)
          where run_id = $2::uuid and state = 'running' and claimed_by = $3 \(lock))
      """
    }
    claim = PostgresStatement(
      "claim runs", "select * from absurd.claim_task($1, $2, $3::integer, $4::integer)")
    isAnyDue = PostgresStatement(
      "look for due runs",
      """
      select exists
          (select from \(attempts) where state in ('pending', 'sleeping')
            and available_at <= absurd.current_time())
        or exists
          (select from \(attempts) where state = 'running'
            and claim_expires_at <= absurd.current_time())
      """)
    // As `claim_task` claims, for one task.
    claimRun = PostgresStatement(
      "claim a run",
      """
      with clock as materialized (select absurd.current_time() as now),
      due as materialized
        (select r.run_id, r.task_id, r.attempt, clock.now
          from \(tasks) t join \(attempts) r on r.run_id = t.last_attempt_run, clock
          where t.idempotency_key = $1 and r.state in ('pending', 'sleeping')
            and t.state in ('pending', 'sleeping', 'running') and r.available_at <= clock.now
          for update of t, r skip locked),
      attempt as
        (update \(attempts) r
          set state = 'running', claimed_by = $2,
            claim_expires_at = due.now + make_interval(secs => $3::integer),
            started_at = due.now, available_at = due.now
          from due where r.run_id = due.run_id returning r.run_id),
      task as
        (update \(tasks) t
          set state = 'running', attempts = greatest(t.attempts, due.attempt),
            first_started_at = coalesce(t.first_started_at, due.now)
          from due where t.task_id = due.task_id returning t.task_id),
      wait as
        (delete from \(tables.waits) w using due
          where w.run_id = due.run_id and w.timeout_at <= due.now)
      select count(*) from attempt
      """)
    expire = PostgresStatement(
      "end an expired attempt",
      """
      select absurd.fail_run($1, run_id,
        jsonb_build_object('name', '\(Self.timeout)', 'message',
          'worker did not finish task within claim interval', 'workerId', claimed_by))
      from \(attempts) where run_id = $2::uuid and state = 'running'
        and claim_expires_at <= absurd.current_time()
      """)
    // As `schedule_run` does, but an attempt that has waited for an event is still known as one.
    giveBack = PostgresStatement(
      "give a task back",
      """
      with given as
        (update \(attempts) set state = 'sleeping', claimed_by = null, claim_expires_at = null,
            available_at = absurd.current_time() + make_interval(secs => $3::double precision)
          where run_id = $2::uuid and state = 'running' and claimed_by = $1 returning task_id)
      update \(tasks) set state = 'sleeping'
      where task_id in (select task_id from given) and state = 'running'
      """)
    state = PostgresStatement(
      "read a claim",
      """
      select r.state, t.state, r.claimed_by, coalesce(c.state->>'text', '')
      from \(attempts) r join \(tasks) t on t.task_id = r.task_id
        left join \(checkpoints) c on c.task_id = r.task_id
          and c.checkpoint_name = '\(AbsurdName.reason)'
      where r.run_id = $1::uuid
      """)
    let write = """
      written as materialized
        (select absurd.set_task_checkpoint_state($1, task_id, $4, $5::jsonb, run_id, $6::integer)
          from held)
      """
    set = PostgresStatement(
      "store a step", "\(held("for update")), \(write) select count(*) from written")
    setAndRemove = PostgresStatement(
      "store a step with the history",
      """
      \(held("for update")), \(write),
      removed as
        (delete from \(checkpoints) where task_id = (select task_id from held)
          and (checkpoint_name = any($7::text[]) or starts_with(checkpoint_name, $8)))
      select count(*) from written
      """)
    removeKeys = PostgresStatement(
      "delete keys",
      """
      \(held("for update")),
      removed as
        (delete from \(checkpoints) where task_id = (select task_id from held)
          and checkpoint_name ~ '^[0-9]+/')
      select count(*) from held where $1::text is not null
      """)
    schedule = PostgresStatement(
      "schedule a run",
      """
      \(held("for update")),
      scheduled as materialized
        (select absurd.schedule_run($1, run_id,
          absurd.current_time() + make_interval(secs => $4::double precision / 1000)) from held)
      select count(*) from scheduled
      """)
    fail = PostgresStatement(
      "release a run whose store failed",
      """
      \(held("for update")),
      failed as materialized
        (select absurd.fail_run($1, run_id,
          '{"name": "StoreFailed", "message": "the worker could not store its results"}'::jsonb,
          absurd.current_time() + make_interval(secs => $4::double precision / 1000)) from held)
      select count(*) from failed
      """)
    removeWaits = PostgresStatement(
      "delete earlier waits",
      """
      delete from \(checkpoints) c using \(attempts) r
      where r.run_id = $1::uuid and r.state = 'running' and r.claimed_by = $2
        and c.task_id = r.task_id and starts_with(c.checkpoint_name, '\(AbsurdName.wait)/')
      """)
    // Without a lock, because the engine locks the event before the attempt.
    self.await = PostgresStatement(
      "wait for an event",
      """
      \(held(""))
      select waiting.should_suspend, waiting.payload is not null
      from held, lateral
        absurd.await_event($1, held.task_id, held.run_id, $4, $5, $6::integer) waiting
      """)
    complete = PostgresStatement(
      "end a run",
      """
      \(held("for update")),
      completed as materialized
        (select absurd.complete_run($1, run_id, $4::jsonb) from held),
      removed as
        (delete from \(checkpoints) where task_id = (select task_id from held)
          and checkpoint_name ~ '^[0-9]+/'),
      told as materialized
        (select absurd.emit_event($1, $5, 'null') from held where $5::text is not null)
      select (select count(*) from completed), (select count(*) from told)
      """)
    extend = PostgresStatement(
      "extend a lease",
      """
      \(held("")),
      extended as materialized
        (select absurd.extend_claim($1, run_id, $4::integer) from held)
      select count(*) from extended
      """)
  }
}
