import FlowFiles
import SQLiteSupport

/// The rows of a run of a flow file in its journal.
struct FlowRunRows: Sendable {
  /// The absolute path of the flow file.
  let file: String
  let selection: String?
  /// When the run began, in milliseconds since 1970.
  let began: Int64
  let steps: [FlowStepRecord]
  /// Some of the children: those that need attention first.
  let children: [FlowStepRecord]
  /// The numbers of children by step and by state; the state of one that runs is nil.
  let counts: [(parent: String, state: FlowEnd.State?, count: Int)]
  /// The stores that have the commands whose output is not in the logs yet, by step or child.
  let places: [String: String]

  /// Nil if there is no such run.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of children.
  ///   - included: A step or a child that is read in any case.
  ///   - isAlone: Whether only that one is read.
  init?(
    _ connection: SQLiteConnection, _ run: FlowRunReader.Key, _ limit: Int, _ included: String?,
    isAlone: Bool = false
  ) throws {
    let record = try connection.fetchOne(
      "SELECT file, selection, began FROM flow_run WHERE flow = ?1 AND number = ?2", run.values
    ) { ($0.text(at: 0) ?? "", $0.text(at: 1), $0.integer(at: 2)) }
    guard let record, record.0.hasPrefix("/") else { return nil }
    (file, selection, began) = record
    let name = included.map { SQLiteValue.text($0) } ?? .null
    let values = isAlone ? run.values + [name] : run.values
    let (ofStep, ofParent) = isAlone ? (" AND step = ?3", " AND parent = ?3") : ("", "")
    let columns = "step, parent, state, reason, attempts, children, began, ended"
    steps = try connection.fetchAll(
      "SELECT \(columns) FROM flow_step WHERE flow = ?1 AND run = ?2 AND parent IS NULL\(ofStep)",
      values, FlowStepRecord.init)
    children = try connection.fetchAll(
      """
      SELECT \(columns) FROM flow_step
      WHERE flow = ?1 AND run = ?2 AND parent IS NOT NULL\(ofStep)
      ORDER BY step IS NOT ?3, CASE state WHEN 'failed' THEN 0 WHEN 'cancelled' THEN 2
        WHEN 'skipped' THEN 3 WHEN 'succeeded' THEN 4 WHEN 'up to date' THEN 5
        ELSE iif(state IS NULL, 1, 4) END, step LIMIT ?4
      """,
      run.values + [name, .integer(Int64(limit))],
      FlowStepRecord.init)
    counts = try connection.fetchAll(
      """
      SELECT parent, state, count(*) FROM flow_step
      WHERE flow = ?1 AND run = ?2 AND parent IS NOT NULL\(ofParent) GROUP BY parent, state
      """, values
    ) { row in
      (
        row.text(at: 0) ?? "", row.text(at: 1).flatMap(FlowEnd.State.init(rawValue:)),
        Int(row.integer(at: 2))
      )
    }
    places = Dictionary(
      try connection.fetchAll(
        "SELECT step, place FROM flow_command WHERE flow = ?1 AND run = ?2 AND logged = 0",
        run.values
      ) { ($0.text(at: 0) ?? "", $0.text(at: 1) ?? "") }, uniquingKeysWith: { $1 })
  }
}

extension FlowStepRecord {
  fileprivate init(_ row: SQLiteStatement) {
    func number(_ column: Int) -> Int64? {
      row.text(at: column) == nil ? nil : row.integer(at: column)
    }
    self.init(
      unit: row.text(at: 0) ?? "",
      state: row.text(at: 2).flatMap(FlowEnd.State.init(rawValue:)), reason: row.text(at: 3),
      attempts: number(4).map { Int($0) }, began: number(6), ended: number(7))
    (parent, children) = (row.text(at: 1), number(5).map { Int($0) })
  }
}
