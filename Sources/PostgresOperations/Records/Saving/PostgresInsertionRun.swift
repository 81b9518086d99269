internal import RecordOperations

/// Rows with the same columns that one statement inserts.
struct PostgresInsertionRun {
  private let table: PostgresTable
  private let columns: [PostgresColumn]
  /// The places of the rows among those of the insertion.
  private(set) var rows: [Int] = []
  /// The stored values of each column.
  private var values: [[String?]]

  init(_ table: PostgresTable, _ columns: [PostgresColumn]) {
    (self.table, self.columns) = (table, columns)
    values = columns.map { _ in [] }
  }

  mutating func append(_ row: [String?], at place: Int) {
    rows.append(place)
    for (index, value) in row.enumerated() { values[index].append(value) }
  }

  /// The same rows, each with a statement of its own.
  var singleRuns: [PostgresInsertionRun] {
    rows.indices.map { index in
      var run = PostgresInsertionRun(table, columns)
      run.append(values.map { $0[index] }, at: rows[index])
      return run
    }
  }

  func statement(_ existing: ExistingRowPolicy) -> PostgresRecordSession.Statement {
    var names = columns.map(\.quoted)
    var selected = columns.enumerated().map { "v.c\($0)::\($1.castType)" }
    if table.isOwn, case .column(let key) = table.key, !columns.contains(where: { $0 === key }) {
      names.append(key.quoted)
      selected.append("replace(gen_random_uuid()::text, '-', '')")
    }
    let source: String
    let parameters: [PostgresValue]
    if columns.isEmpty {
      source = "generate_series(1, $1::bigint) AS v(i)"
      parameters = [.integer(Int64(rows.count))]
    } else {
      let arrays = columns.indices.map { "$\($0 + 1)::text[]" }.joined(separator: ", ")
      let aliases = columns.indices.map { "c\($0), " }.joined()
      source = "unnest(\(arrays)) WITH ORDINALITY AS v(\(aliases)i)"
      parameters = values.map { .texts($0) }
    }
    let sql = """
      INSERT INTO \(table.quoted) AS t (\(names.joined(separator: ", "))) \
      SELECT \(selected.joined(separator: ", ")) FROM \(source) ORDER BY v.i\(conflict(existing))
      """
    return (PostgresStatement("insert into \(table.name)", sql), parameters)
  }

  private func conflict(_ existing: ExistingRowPolicy) -> String {
    if existing == .refused { return "" }
    let keys = table.key.columns
    let target = " ON CONFLICT (\(keys.map(\.quoted).joined(separator: ", ")))"
    let others = columns.filter { column in !keys.contains { $0 === column } }
    if existing == .kept || others.isEmpty { return "\(target) DO NOTHING" }
    let settings = others.map { "\($0.quoted) = excluded.\($0.quoted)" }
    // An equal row stays unchanged, with its tag.
    let old = others.map { $0.comparison(in: "t") }.joined(separator: ", ")
    let new = others.map { $0.comparison(in: "excluded") }.joined(separator: ", ")
    return """
      \(target) DO UPDATE SET \(settings.joined(separator: ", ")) \
      WHERE ROW(\(old)) IS DISTINCT FROM ROW(\(new))
      """
  }
}

extension PostgresColumn {
  /// An expression that is distinct for distinct values: a collation may consider texts equal that
  /// differ, and so does `jsonb` with numbers.
  fileprivate func comparison(in row: String) -> String {
    switch kind {
    case .text, .keptReference, .foreignKey(_, _, isInteger: false):
      "\(row).\(quoted) COLLATE \"C\""
    case .list, .other: "\(row).\(quoted)::text"
    case .integer, .boolean, .double, .real, .uuid, .enumeration, .bytes, .date, .null,
      .foreignKey(_, _, isInteger: true):
      "\(row).\(quoted)"
    }
  }
}
