/// The statements of requests from outside of a run.
struct RequestStatements: Sendable {
  /// Starts a run: $1 queue, $2 flow, $3 parameters, $4 options. Returns the task, its attempt, whether
  /// it is new, and the time.
  let spawn: PostgresStatement
  /// The task of the run with a name ($1), which is locked: its identifier, its last attempt, the
  /// number of attempts, and whether it has ended.
  let lockTask: PostgresStatement
  /// The runs that a cancellation of the run with a name ($1) concerns: the run itself and its child
  /// flows, as far as they have not ended. Each with its task, its last attempt and its state.
  let tree: PostgresStatement
  /// Stores why a run was cancelled or is stuck: $1 queue, $2 task, $3 attempt, $4 reason as JSON.
  let setReason: PostgresStatement
  /// Notes the number of claims at a retry, from which the claims without a finished step count: $1
  /// queue, $2 task, $3 attempt, $4 the fence as JSON.
  let setRetried: PostgresStatement
  let cancel: PostgresStatement
  /// Emits an event: $1 queue, $2 name, $3 payload.
  let emit: PostgresStatement
  /// Whether the payload of an event ($1) is $2; no row if it has not come.
  let isEvent: PostgresStatement
  /// A row if the last attempt ($1) has waited for an event ($2) until its limit.
  let isTooLate: PostgresStatement
  /// Deletes an event ($1) of a task ($2) unless a finished step has received it, under its own name ($3). A last step
  /// that has failed does not count if the task can be retried ($4).
  /// Returns when it was sent.
  let removeEvent: PostgresStatement
  /// Sets when an event ($1) was sent ($2).
  let setSent: PostgresStatement
  /// Deletes checkpoints of a task ($1): those of steps from $2 on, and all keys if $3.
  let removeSteps: PostgresStatement
  /// Makes the waiting attempt ($1) of a task ($2) due.
  let makeDue: PostgresStatement
  /// Adds an attempt to a task ($2) of the queue ($1) that has failed.
  let retry: PostgresStatement
  /// Copies the checkpoints of the steps of a task ($1), as texts.
  let copySteps: PostgresStatement
  /// Stores a checkpoint of a new task: $1 queue, $2 task, $3 attempt, $4 name, $5 state.
  let setStep: PostgresStatement
  /// Deletes the events whose names begin with $1.
  let removeEvents: PostgresStatement
  /// Deletes the runs with some names ($1) and all that belongs to them.
  let remove: PostgresStatement
  /// Deletes a task ($1) without its child flows.
  let removeTask: PostgresStatement
  /// A child flow, at any depth, of the run with a name ($1) that has not ended.
  let openChild: PostgresStatement
  /// The names of runs that ended some milliseconds ago ($1), with all of their child flows, at most
  /// 1,000.
  let ended: PostgresStatement

  init(_ tables: AbsurdTables) {
    let (tasks, attempts, checkpoints) = (tables.tasks, tables.attempts, tables.checkpoints)
    let ended = "('completed', 'cancelled')"
    spawn = PostgresStatement(
      "start a run",
      """
      select task_id, run_id, created, \(milliseconds("absurd.current_time()"))
      from absurd.spawn_task($1, $2, $3::jsonb, $4::jsonb)
      """)
    lockTask = PostgresStatement(
      "lock a run",
      """
      select task_id, last_attempt_run, attempts, state not in ('pending', 'running', 'sleeping')
      from \(tasks) where idempotency_key = $1 for update
      """
    )
    let tree = """
      with recursive tree as
        (select task_id, idempotency_key from \(tasks) where idempotency_key = any($1::text[])
          union all select t.task_id, t.idempotency_key from \(tasks) t
            join tree on t.headers->>'parent' = tree.idempotency_key)
      """
    self.tree = PostgresStatement(
      "read a run with its child flows",
      """
      \(tree)
      select t.idempotency_key, t.task_id, t.last_attempt_run, t.state, t.headers->>'parent'
      from tree join \(tasks) t on t.task_id = tree.task_id where t.state not in \(ended)
      order by t.task_id
      """)
    setReason = PostgresStatement(
      "store a reason",
      """
      select absurd.set_task_checkpoint_state(
        $1, $2::uuid, '\(AbsurdName.reason)', $4::jsonb, $3::uuid)
      """)
    setRetried = PostgresStatement(
      "note a retry",
      """
      select absurd.set_task_checkpoint_state(
        $1, $2::uuid, '\(AbsurdName.retried)', $4::jsonb, $3::uuid)
      """)
    cancel = PostgresStatement("cancel a run", "select absurd.cancel_task($1, $2::uuid)")
    emit = PostgresStatement("emit an event", "select absurd.emit_event($1, $2, $3::jsonb)")
    isEvent = PostgresStatement(
      "compare an event",
      "select payload = $2::jsonb from \(tables.events) where event_name = $1 and payload is not null"
    )
    isTooLate = PostgresStatement(
      "look for the limit of a wait",
      """
      select from \(attempts) r where run_id = $1::uuid and state = 'sleeping' and wake_event = $2
        and (available_at <= absurd.current_time()
          -- A claim deletes the wait after its limit.
          or not exists (select from \(tables.waits) w where w.run_id = r.run_id))
      """)
    removeEvent = PostgresStatement(
      "delete an event",
      """
      delete from \(tables.events) where event_name = $1 and payload is not null and not exists
        (select 1 from \(checkpoints) c where task_id = $2::uuid and checkpoint_name ~ '^[0-9]+$'
          and state->'events' ? $3 and not ($4::boolean and state->>'kind' = 'error' and not exists
            (select 1 from \(checkpoints) later where later.task_id = c.task_id
              and later.checkpoint_name ~ '^[0-9]+$' and later.checkpoint_name > c.checkpoint_name)))
      returning emitted_at::text
      """)
    setSent = PostgresStatement(
      "set the time of an event",
      "update \(tables.events) set emitted_at = $2::timestamptz where event_name = $1")
    removeSteps = PostgresStatement(
      "delete steps",
      """
      delete from \(checkpoints) where task_id = $1::uuid
        and (checkpoint_name = '\(AbsurdName.reason)'
          or starts_with(checkpoint_name, '\(AbsurdName.wait)/')
          or checkpoint_name ~ '^[0-9]+$' and checkpoint_name collate "C" >= $2
          or checkpoint_name ~ '^[0-9]+/' and $3::boolean)
      """)
    makeDue = PostgresStatement(
      "make a run due",
      """
      with attempt as
        (update \(attempts) set state = 'pending', available_at = absurd.current_time(),
            wake_event = null, event_payload = null
          where run_id = $1::uuid and state in ('pending', 'sleeping')),
      task as (update \(tasks) set state = 'pending' where task_id = $2::uuid)
      delete from \(tables.waits) where task_id = $2::uuid
      """)
    retry = PostgresStatement(
      "retry a run",
      """
      select run_id from absurd.retry_task($1, $2::uuid,
        jsonb_build_object('max_attempts', (select attempts + 10 from \(tasks) where task_id = $2::uuid)))
      """)
    copySteps = PostgresStatement(
      "copy steps",
      """
      select checkpoint_name, state::text from \(checkpoints)
      where task_id = $1::uuid and checkpoint_name ~ '^[0-9]+$' and checkpoint_name collate "C" < $2
      """)
    setStep = PostgresStatement(
      "store a step of a retried run",
      "select absurd.set_task_checkpoint_state($1, $2::uuid, $4, $5::jsonb, $3::uuid)")
    removeEvents = PostgresStatement(
      "delete events", "delete from \(tables.events) where starts_with(event_name, $1)")
    remove = PostgresStatement(
      "delete runs",
      """
      \(tree),
      waits as (delete from \(tables.waits) where task_id in (select task_id from tree)),
      checkpoints as (delete from \(checkpoints) where task_id in (select task_id from tree)),
      attempts as (delete from \(attempts) where task_id in (select task_id from tree)),
      events as
        (delete from \(tables.events) where split_part(event_name, '/', 1) in
          (select t.headers->>'events' from tree join \(tasks) t on t.task_id = tree.task_id))
      delete from \(tasks) where task_id in (select task_id from tree)
      """)
    removeTask = PostgresStatement(
      "delete a run",
      """
      with waits as (delete from \(tables.waits) where task_id = $1::uuid),
      checkpoints as (delete from \(checkpoints) where task_id = $1::uuid),
      attempts as (delete from \(attempts) where task_id = $1::uuid)
      delete from \(tasks) where task_id = $1::uuid
      """)
    openChild = PostgresStatement(
      "look for an open child flow",
      """
      \(tree)
      select t.idempotency_key from tree join \(tasks) t on t.task_id = tree.task_id
      where t.state not in \(ended) and t.idempotency_key <> all($1::text[]) limit 1
      """)
    let time = "coalesce(r.completed_at, t.cancelled_at)"
    let limit = "absurd.current_time() - make_interval(secs => $1::double precision / 1000)"
    self.ended = PostgresStatement(
      "list ended runs",
      """
      select t.idempotency_key
      from \(tasks) t join \(attempts) r on r.run_id = t.last_attempt_run
      where t.headers ? 'run' and t.state in \(ended)
        and \(time) < \(limit)
        and not exists
          (with recursive tree as
            (select c.task_id, c.idempotency_key from \(tasks) c
                where c.headers->>'parent' = t.idempotency_key
              union all select c.task_id, c.idempotency_key from \(tasks) c
                join tree on c.headers->>'parent' = tree.idempotency_key)
          select from tree join \(tasks) c on c.task_id = tree.task_id
            join \(attempts) a on a.run_id = c.last_attempt_run
          where c.state not in \(ended)
            or coalesce(a.completed_at, c.cancelled_at) >= \(limit))
      order by \(time) limit 1000
      """)
  }
}
