/// The statements that read runs, their steps and their events.
struct ReadStatements: Sendable {
  /// The runs with some names ($1).
  let named: PostgresStatement
  /// The runs of the flows with some names ($1; none for all) in some states ($2) with a text in their names ($3, or null)
  /// and a parent ($4, or null) that began since a time ($5, or null), before a run ($6 time, $7 name; or null), the
  /// newest first, at most $8.
  let runs: PostgresStatement
  /// The numbers of such runs ($1 to $5) by flow and state, in no order.
  let counts: PostgresStatement
  /// The totals of all runs by flow and state: their number, the milliseconds since the oldest of their changes, and
  /// the sum of their durations.
  let totals: PostgresStatement
  /// Until the end of the transaction: reads all runs in the order of the table, and does not sort
  /// them to count them. The groups are few, but the planner expects one for each run.
  let prepareCounts = PostgresStatement(
    "prepare to count runs",
    "select set_config('enable_seqscan', 'on', true), set_config('enable_sort', 'off', true)")
  /// A text that changes with every change of the server: the end of its write-ahead log, and how many workers have
  /// lost their claims.
  let version: PostgresStatement
  /// The runs that a worker ($1) has claimed, in the order of their attempts.
  let claimed: PostgresStatement
  /// The last finished steps of the run with a name ($1), at most $2, the last one first.
  let steps: PostgresStatement
  /// What the step in progress of the run with a name ($1) has stored.
  let keys: PostgresStatement
  /// The payload of an event ($1), and when it was sent.
  let event: PostgresStatement
  /// The last events whose names begin with $1, at most $2, the newest first. The engine has no index
  /// by run, so this reads all events of the queue.
  let events: PostgresStatement
  /// Of some runs ($1) and events ($2), a text for each that changes with it.
  let changes: PostgresStatement
  /// Whether a child of the run with a name ($1) has stored something since an attempt ($2).
  let childProgress: PostgresStatement
  /// A line for each stuck run.
  let stuck: PostgresStatement

  init(_ tables: AbsurdTables) {
    let (tasks, attempts, checkpoints) = (tables.tasks, tables.attempts, tables.checkpoints)
    let columns = Self.runColumns(tables)
    named = PostgresStatement(
      "read runs", "\(columns) where t.idempotency_key = any($1::text[])")
    claimed = PostgresStatement(
      "read claimed runs",
      "\(columns) where r.state = 'running' and r.claimed_by = $1 order by r.run_id")
    // Without a join, which takes longer than the rest: only these tasks need their attempts.
    func ofAttempt(_ state: String) -> String {
      "(select \(state) from \(attempts) r where r.run_id = t.last_attempt_run)"
    }
    let isExpired = "r.claim_expires_at <= absurd.current_time()"
    let state = Self.state(
      running: ofAttempt("case when \(isExpired) then 'interrupted' else 'running' end"),
      sleeping: ofAttempt(Self.sleepingState))
    version = PostgresStatement(
      "read the version",
      """
      select pg_current_wal_insert_lsn() || ' ' ||
        (select count(*) from \(attempts) r where r.state = 'running' and \(isExpired))
      """)
    let selected = """
      t.headers ? 'run' and ($1::text[] = '{}' or t.task_name = any($1::text[]))
        and ($2::text[] = '{}' or (\(state)) = any($2::text[]))
        and ($3::text is null or strpos(lower(t.idempotency_key), lower($3)) > 0)
        and ($4::text is null or t.headers->>'parent' = $4)
        and t.task_id >= \(Self.firstTask(since: "coalesce($5::bigint, 0)"))
      """
    // Absurd's identifiers are UUIDs of version 7, in the order of their times, and the primary key.
    // The time of a run is in its identifier, so that the list has the order of the times: all runs
    // that one transaction starts have the same `enqueue_at`, however long it takes. A run that has been deleted since is replaced by the end of the millisecond in which it began:
    // the runs of this millisecond may come twice, but none is missing.
    let end = Self.firstTask(since: "least($6::bigint, x'fffffffffffe'::bigint) + 1")
    let before = """
      case when $6::bigint is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'
        else coalesce(
          (select t.task_id from \(tasks) t
            where t.idempotency_key = $7::text and \(Self.began) = $6),
          \(end)) end
      """
    runs = PostgresStatement(
      "list runs",
      """
      \(columns) where t.task_id = any(array(
        select t.task_id from \(tasks) t where \(selected) and t.task_id < \(before)
        order by t.task_id desc limit $8::bigint))
      order by t.task_id desc
      """)
    counts = PostgresStatement(
      "count runs",
      """
      select t.task_name, \(state) as state, count(*) from \(tasks) t where \(selected)
      group by 1, 2
      """)
    let ended = "coalesce(r.completed_at, t.cancelled_at)"
    let changed = "greatest(r.created_at, r.started_at, r.completed_at, t.cancelled_at)"
    // A run that waited for a time is ready since then.
    let since =
      "case when \(state) = 'ready' then greatest(r.created_at, r.available_at) else \(changed) end"
    totals = PostgresStatement(
      "add up runs",
      """
      select t.task_name, \(state) as state, count(*),
        \(milliseconds("(absurd.current_time() - min(\(since)))")),
        coalesce(sum(\(milliseconds(ended)) - \(Self.began)), 0)::bigint
      from \(tasks) t join \(attempts) r on r.run_id = t.last_attempt_run
      where t.headers ? 'run' group by 1, 2
      """)
    let stepColumns = """
      select c.checkpoint_name, c.state->>'name', (c.state->'types')::text, c.state->>'kind',
        (c.state->'value')::text, (c.state->'sequence')::text, (c.state->>'attempts')::bigint,
        (c.state->>'fence')::bigint, (c.state->>'began')::bigint, (c.state->>'ended')::bigint,
        c.state->>'worker', c.state->>'key'
      from \(checkpoints) c
      where c.task_id = (select task_id from \(tasks) where idempotency_key = $1)
        and c.checkpoint_name ~ '^[0-9]'
      """
    steps = PostgresStatement(
      "read steps",
      """
      \(stepColumns) and strpos(c.checkpoint_name, '/') = 0
      order by c.checkpoint_name collate "C" desc limit $2::bigint
      """)
    keys = PostgresStatement(
      "read keys", "\(stepColumns) and strpos(c.checkpoint_name, '/') > 0")
    event = PostgresStatement(
      "read an event",
      """
      select payload::text, \(milliseconds("emitted_at")) from \(tables.events)
      where event_name = $1 and payload is not null
      """)
    events = PostgresStatement(
      "read the events of a run",
      """
      select event_name, payload::text, \(milliseconds("emitted_at")) from \(tables.events)
      where starts_with(event_name, $1) and not starts_with(event_name, $1 || '@')
        and payload is not null
      order by emitted_at desc, event_name desc limit $2::bigint
      """)
    changes = PostgresStatement(
      "look for changes",
      """
      select t.idempotency_key, t.state || ' ' || r.state || ' ' || r.run_id
        || ' ' || (r.state = 'sleeping' and r.available_at <= absurd.current_time()), false
      from \(tasks) t join \(attempts) r on r.run_id = t.last_attempt_run
      where t.idempotency_key = any($1::text[])
      union all
      select event_name, '', true from \(tables.events)
      where event_name = any($2::text[]) and payload is not null
      """)
    childProgress = PostgresStatement(
      "look for the progress of children",
      """
      with recursive begun as
        (select r.created_at from \(tasks) t join \(attempts) r on r.task_id = t.task_id
          where t.idempotency_key = $1
          order by r.attempt desc offset $2::bigint limit 1),
      tree as
        (select t.task_id, t.idempotency_key from \(tasks) t where t.headers->>'parent' = $1
          union all select t.task_id, t.idempotency_key from \(tasks) t
            join tree on t.headers->>'parent' = tree.idempotency_key)
      select exists
          (select from \(checkpoints) c join tree on tree.task_id = c.task_id, begun
            where c.updated_at > begun.created_at)
        or exists
          (select from \(attempts) r join tree on tree.task_id = r.task_id, begun
            where r.completed_at > begun.created_at)
      """)
    stuck = PostgresStatement(
      "list stuck runs",
      """
      select t.idempotency_key, coalesce(c.state->>'text', r.failure_reason->>'message', '')
      from \(tasks) t join \(attempts) r on r.run_id = t.last_attempt_run
        left join \(checkpoints) c on c.task_id = t.task_id
          and c.checkpoint_name = '\(AbsurdName.reason)'
      where t.headers ? 'run' and (\(Self.state)) = 'stuck' order by t.idempotency_key
      """)
  }

  /// The state of a run, of a task `t` with its last attempt `r`.
  private static let state = state(running: "'running'", sleeping: sleepingState)

  /// - Parameters:
  ///   - running: The state of a task that a worker has claimed.
  ///   - sleeping: The state of a task that sleeps.
  private static func state(running: String, sleeping: String) -> String {
    """
    case t.state
      when 'pending' then 'ready'
      when 'running' then \(running)
      when 'completed' then coalesce(t.completed_payload->>'kind', 'result')
      when 'cancelled' then 'cancelled'
      when 'failed' then 'stuck'
      else \(sleeping)
    end
    """
  }

  private static let sleepingState = """
    case
      when strpos(r.wake_event, '/@retry/') > 0 then 'stuck'
      when r.available_at <= absurd.current_time() then 'ready'
      else 'parked'
    end
    """

  /// When a run began: the first 48 bits of its identifier, in milliseconds.
  private static let began =
    "('x' || translate(left(t.task_id::text, 13), '-', ''))::bit(48)::bigint"

  /// The least identifier of a task that began at a time, or later.
  private static func firstTask(since time: String) -> String {
    let bounded = "least(greatest(\(time), 0), x'ffffffffffff'::bigint)"
    return "(lpad(to_hex(\(bounded)), 12, '0') || repeat('0', 20))::uuid"
  }

  /// The columns of runs, in the order in which ``StoredRun`` reads them.
  private static func runColumns(_ tables: AbsurdTables) -> String {
    let checkpoints = tables.checkpoints
    return """
      select t.idempotency_key, t.task_name, \(state), coalesce(
          (t.completed_payload->'sequence')::text, changed.sequence, (t.params->'state')::text),
        (t.params->'state')::text, step.checkpoint_name,
        r.attempt + coalesce((t.headers->>'attempts')::bigint, 0),
        greatest(progress.fence, (retried.state->>'fence')::bigint),
        r.claimed_by, r.claim_expires_at <= absurd.current_time(),
        case when r.available_at < 'infinity'
          then \(milliseconds("(r.available_at - absurd.current_time())")) end,
        r.wake_event, \(milliseconds("t.cancelled_at")),
        coalesce(reason.state->>'text', r.failure_reason->>'message'),
        (t.completed_payload->'value')::text, t.headers->>'parent',
        \(Self.began),
        greatest(\(Self.began), \(milliseconds(
          "greatest(r.created_at, r.started_at, r.completed_at, t.cancelled_at, step.updated_at)"))),
        \(milliseconds("coalesce(r.completed_at, t.cancelled_at)")),
        r.run_id, t.task_id, progress.count, t.headers->>'start', r.state,
        t.headers->>'traceparent', t.headers->>'parentspan',
        case when r.attempt > 1 then
          (select count(*) from \(tables.attempts) a
            where a.task_id = t.task_id and a.failure_reason->>'name' = '\(ClaimStatements.timeout)'
              and a.attempt + coalesce((t.headers->>'attempts')::bigint, 0)
                >= coalesce(progress.fence, 0)
              and a.attempt + coalesce((t.headers->>'attempts')::bigint, 0)
                > coalesce((retried.state->>'fence')::bigint, 0))
          else 0 end,
        \(milliseconds("(absurd.current_time() - r.created_at)")),
        \(milliseconds("absurd.current_time()"))
      from \(tables.tasks) t
      join \(tables.attempts) r on r.run_id = t.last_attempt_run
      left join lateral
        (select c.checkpoint_name, c.updated_at, c.state from \(checkpoints) c
          where c.task_id = t.task_id and c.checkpoint_name ~ '^[0-9]+$'
          order by c.checkpoint_name collate "C" desc limit 1) step on true
      left join lateral
        (select (c.state->'sequence')::text as sequence from \(checkpoints) c
          where c.task_id = t.task_id and c.state ? 'sequence'
          order by c.checkpoint_name collate "C" desc limit 1) changed on true
      left join lateral
        (select count(*) as count,
            max((c.state->>'fence')::bigint) filter (where c.state->>'kind' <> 'attempts') as fence
          from \(checkpoints) c
          where c.task_id = t.task_id and c.checkpoint_name ~ '^[0-9]'
            and c.checkpoint_name collate "C" >= coalesce(step.checkpoint_name, '')) progress
        on true
      left join \(checkpoints) retried
        on retried.task_id = t.task_id and retried.checkpoint_name = '\(AbsurdName.retried)'
      left join \(checkpoints) reason
        on reason.task_id = t.task_id and reason.checkpoint_name = '\(AbsurdName.reason)'
      """
  }
}

/// A time in milliseconds since the beginning of 1970, in SQL.
func milliseconds(_ time: String) -> String { "(extract(epoch from \(time)) * 1000)::bigint" }
