internal import CompositeOperations
internal import DurableOperations
internal import PostgresOperations
internal import Testing

@Suite(.enabled(if: PrivateServer.whatIsMissing == nil), .timeLimit(.minutes(10)))
struct SchemaTests {
  private func error(of store: RunStore) async throws -> RunStoreError {
    let error = await #expect(throws: RunStoreError.self) {
      try await store.start(Leaf(name: "a"), named: "r")
    }
    return try #require(error)
  }

  @Test func `K9: a database without the schema is refused, with what to do`() async throws {
    let address = try await PrivateServer.shared.freshDatabase(hasSchema: false)
    let error = try await error(of: .postgres(address))
    #expect(error.reason == .unsupportedSchema)
    #expect(error.description.contains("absurdctl init"), "\(error)")
  }

  @Test(arguments: ["0.3.0", "0.7.0", "1.4.0", "main", ""])
  func `K9: another version of the schema is refused, with both versions`(version: String)
    async throws
  {
    let queue = try await TestQueue()
    try await queue.query(
      """
      create or replace function absurd.get_schema_version() returns text language sql
      as $$ select '\(version)'::text $$
      """)
    let error = try await error(of: queue.store())
    #expect(error.reason == .unsupportedSchema)
    #expect(
      error.description.hasPrefix("schema: Absurd \(version) is installed in "), "\(error)")
    #expect(error.description.contains("this program supports 0.4 to 0.6"), "\(error)")
  }

  @Test func `K9: an unknown queue is refused, with its name`() async throws {
    let queue = try await TestQueue()
    let error = try await error(of: .postgres(queue.address, queue: "other"))
    #expect(error.reason == .unsupportedSchema)
    #expect(error.description.contains("no queue 'other'"), "\(error)")
  }

  @Test func `K9: a partitioned queue is refused`() async throws {
    let queue = try await TestQueue()
    try await queue.query("select absurd.create_queue('parts', 'partitioned')")
    let error = try await error(of: .postgres(queue.address, queue: "parts"))
    #expect(error.reason == .unsupportedSchema)
    #expect(error.description.contains("'parts'") && error.description.contains("partitioned"))
  }

  @Test func `a queue with a strange name`() async throws {
    let queue = try await TestQueue()
    let name = #"it's a "queue" 👩‍👩‍👧"#
    try await queue.query("select absurd.create_queue('\(name.replacing("'", with: "''"))')")
    let store = RunStore.postgres(queue.address, queue: name)
    #expect(await DurableOperation(Leaf(name: "a"), named: "r", in: store).run().result == "a")
  }

  @Test func `missing rights are an error that names them`() async throws {
    let queue = try await TestQueue()
    let role = "reader_" + queue.address.suffix(120).filter { $0.isLetter }.suffix(8)
    try await queue.query("drop role if exists \(role); create role \(role) login")
    let address = queue.address.replacing("postgres@", with: "\(role)@")
    let error = try await error(of: .postgres(address))
    #expect(error.reason == .notAccessible)
    #expect(error.description.contains("permission denied"), "\(error)")
  }

  @Test func `the tables have the columns that this package uses`() async throws {
    let queue = try await TestQueue()
    let expected: [String: Set<String>] = [
      "t_default": [
        "task_id", "task_name", "params", "headers", "enqueue_at", "first_started_at", "state",
        "attempts", "last_attempt_run", "completed_payload", "cancelled_at", "idempotency_key",
      ],
      "r_default": [
        "run_id", "task_id", "attempt", "state", "claimed_by", "claim_expires_at", "available_at",
        "wake_event", "event_payload", "started_at", "completed_at", "failed_at", "failure_reason",
        "created_at",
      ],
      "c_default": ["task_id", "checkpoint_name", "state", "updated_at"],
      "e_default": ["event_name", "payload"],
      "w_default": ["task_id", "run_id", "timeout_at"],
    ]
    for (table, columns) in expected {
      let found = try await queue.query(
        """
        select column_name from information_schema.columns
        where table_schema = 'absurd' and table_name = '\(table)'
        """
      ).split(separator: "\n").map { String($0) }
      #expect(columns.subtracting(found) == [], "\(table)")
    }
    // The states, and how a claim changes them: as `claim_task` does, the claim of one run.
    let states = try await queue.query(
      """
      select pg_get_constraintdef(oid) from pg_constraint
      where conrelid = 'absurd.r_default'::regclass and contype = 'c'
      """)
    for state in ["pending", "running", "sleeping", "completed", "failed", "cancelled"] {
      #expect(states.contains("'\(state)'"), "\(states)")
    }
    let store = queue.store()
    try await store.start(Leaf(name: "a"), named: "one")
    try await store.start(Leaf(name: "b"), named: "two")
    guard case .claimed = try await store.backend.claim("one") else {
      Issue.record("not claimed")
      return
    }
    #expect(
      try await store.backend.claim(flows: ["Leaf"], limit: 10, isIdle: true).map(\.token.run) == [
        "two"
      ])
    let rows = try await queue.query(
      """
      select r.state, t.state, r.claimed_by is null, r.claim_expires_at > r.started_at,
        r.available_at = r.started_at, r.wake_event, t.attempts, t.last_attempt_run = r.run_id,
        t.first_started_at = r.started_at
      from absurd.r_default r join absurd.t_default t using (task_id)
      """
    ).split(separator: "\n")
    #expect(rows.count == 2 && Set(rows).count == 1, "\(rows)")
  }
}
