internal import CompositeOperations
internal import DurableOperations
internal import SystemSupport

/// A run as its queue stores it.
struct AbsurdRun {
  var run: StoredRun
  /// The identifier of the attempt, which fences writes.
  let attemptID: String
  let taskID: String
  /// Whether no step or key is stored.
  let isFresh: Bool
  /// A text that only one start has.
  let start: String?
  /// The state of the attempt, as the engine has it.
  let attemptState: String
  /// The time since the attempt was made. A claim that is given back makes no new one.
  let age: Duration

  /// The clock of the server in rows with the columns of runs, in milliseconds since the beginning of
  /// 1970; nil without rows.
  static func serverTime(_ rows: PostgresRows) -> Int64? {
    rows.count > 0 ? rows.integer(0, 28) : nil
  }

  /// Reads a row with the columns of runs of ``ReadStatements``.
  ///
  /// - Parameter now: The time of the store in milliseconds since the beginning of 1970. The row has
  ///   the time at which a run is due relative to it.
  init(_ rows: PostgresRows, _ row: Int, at now: Int64) {
    func text(_ column: Int) -> String { rows.text(row, column) ?? "" }
    func value(_ column: Int) -> String? { rows.text(row, column).map(AbsurdText.text) }
    let state = RunState(rawValue: text(2)) ?? .stuck
    let position = rows.text(row, 5).flatMap { Int($0) }
    let fence = Int(rows.integer(row, 6) ?? 0)
    attemptState = text(23)
    // An attempt that waits, or was released, does not count.
    let claims = ["pending", "sleeping"].contains(attemptState) ? fence - 1 : fence
    let waits = state == .parked || state == .ready
    run = StoredRun(
      id: RunID(text(0)), flow: text(1), state: state, sequence: value(3) ?? "null",
      initial: value(4) ?? "null", stepCount: position.map { $0 + 1 } ?? 0, fence: fence,
      claims: max(0, claims - Int(rows.integer(row, 7) ?? 0)),
      wake: waits ? rows.integer(row, 10).map { now + $0 } : nil,
      event: state == .parked ? AbsurdName.awaitedEvent(rows.text(row, 11)) : nil,
      cancelled: rows.integer(row, 12), reason: rows.text(row, 13), outcome: value(14),
      parent: rows.text(row, 15).map { RunID($0) }, began: rows.integer(row, 16) ?? 0,
      updated: rows.integer(row, 17) ?? 0, ended: rows.integer(row, 18),
      worker: rows.text(row, 8).map(WorkerName.process))
    run.hasExpired = state == .running && rows.boolean(row, 9) == true
    run.interruptions = Int(rows.integer(row, 26) ?? 0)
    age = .milliseconds(rows.integer(row, 27) ?? 0)
    run.trace = RunTrace(traceParent: rows.text(row, 24), parentSpanID: rows.text(row, 25))
    attemptID = text(19)
    taskID = text(20)
    isFresh = rows.integer(row, 21) == 0
    start = rows.text(row, 22)
  }
}

extension StoredRun {
  /// The run of a task that was just started.
  ///
  /// - Parameters:
  ///   - trace: The trace that was stored with it.
  ///   - began: The time of its start by the clock of the server.
  ///   - now: The time of the store, at which it is due.
  init(_ run: NewRun, in trace: RunTrace, began: Int64, at now: Int64) {
    self.init(
      id: run.id, flow: run.flow, state: .ready, sequence: run.state, initial: run.state,
      stepCount: 0, fence: 1, claims: 0, wake: now, event: nil, cancelled: nil, reason: nil,
      outcome: nil, parent: run.parent, began: began, updated: began, ended: nil)
    self.trace = trace
  }
}

extension StoredStep {
  /// Reads a row with the columns of steps of ``ReadStatements``; nil if it is no step.
  init?(_ rows: PostgresRows, _ row: Int) {
    guard let (position, name) = rows.text(row, 0).flatMap(AbsurdName.step) else { return nil }
    let key = rows.text(row, 11) ?? name
    let types = rows.text(row, 2) ?? "[]"
    let names = (try? JSONRunCoder().decode([String].self, from: types)) ?? []
    self.init(
      position: position, key: key, name: rows.text(row, 1) ?? "",
      types: StepTypes(
        operations: Array(names.dropLast(2)), success: names.dropLast().last ?? ""),
      mangledName: names.last ?? "",
      kind: RunDetails.Kind(rawValue: rows.text(row, 3) ?? "") ?? .error,
      value: rows.text(row, 4).map(AbsurdText.text),
      sequence: rows.text(row, 5).map(AbsurdText.text), attempts: Int(rows.integer(row, 6) ?? 1),
      fence: Int(rows.integer(row, 7) ?? 0), began: rows.integer(row, 8) ?? 0,
      ended: rows.integer(row, 9) ?? 0, worker: rows.text(row, 10))
  }

  /// The state of its checkpoint.
  func checkpoint(fence: Int, worker: String, _ texts: AbsurdText) -> String {
    var json = JSONWriter()
    json.object { json in
      json.member("name", AbsurdText.withoutNull(name))
      if AbsurdName.shortened(key) != key { json.member("key", key) }
      let types = key.isEmpty ? types.operations + [types.success, mangledName] : []
      json.member("types", types.map(AbsurdText.withoutNull))
      json.member("kind", kind.rawValue)
      if let value {
        json.name("value")
        json.literal(texts.stored(value))
      }
      if let sequence {
        json.name("sequence")
        json.literal(texts.stored(sequence))
      }
      json.member("attempts", attempts)
      json.member("fence", fence)
      json.member("began", began)
      json.member("ended", ended)
      json.member("worker", worker)
      if !events.isEmpty { json.member("events", events.map(AbsurdText.withoutNull)) }
    }
    return json.text
  }
}
