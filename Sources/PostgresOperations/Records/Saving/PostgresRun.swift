internal import RecordOperations

/// Consecutive changes that one statement makes.
struct PostgresRun {
  private enum Work {
    case save([PostgresSave])
    case delete(PostgresTable, key: [String], tag: RecordTag?)
  }

  /// The places of the changes in the batch.
  let indices: [Int]
  private let work: Work

  var isInsertion: Bool {
    if case .save(let saves) = work { saves[0].isInsertion } else { false }
  }

  /// Groups steps.
  ///
  /// - Parameter limit: The maximum number of changes in a run.
  static func runs(of steps: [PostgresStep], limit: Int = .max) -> [PostgresRun] {
    var runs: [PostgresRun] = []
    // Outside of the runs, so that appending copies nothing.
    var (saves, places): ([PostgresSave], [Int]) = ([], [])
    func endRun() {
      if saves.isEmpty { return }
      runs.append(PostgresRun(indices: places, work: .save(saves)))
      (saves, places) = ([], [])
    }
    for (index, step) in steps.enumerated() {
      switch step {
      case .failed, .blocked: continue
      case .delete(let table, let key, let tag):
        endRun()
        runs.append(
          PostgresRun(indices: [index], work: .delete(table, key: key, tag: tag)))
      case .save(let save):
        if let first = saves.first, saves.count >= limit || !first.isSimilar(to: save) { endRun() }
        saves.append(save)
        places.append(index)
      }
    }
    endRun()
    return runs
  }

  // MARK: Statements

  /// Returns a statement that makes the changes, and one that reads the new states.
  func statements(in schema: PostgresRecordSchema) -> [PostgresRecordSession.Statement] {
    switch work {
    case .delete(let table, let key, let tag):
      let isTagged = tag != nil
      let sql = """
        DELETE FROM \(table.quoted) AS t \
        USING \(PostgresRecordSession.keys(of: table, others: isTagged ? ["tag"] : [])) \
        WHERE \(PostgresRecordSession.isKey(of: table))\
        \(isTagged ? " AND \(table.tag) = v.tag::bigint" : "") RETURNING v.i
        """
      let tags: [PostgresValue] = tag.map { [.texts([$0.description])] } ?? []
      return [
        (
          PostgresStatement("delete from \(table.name)", sql),
          PostgresRecordSession.arrays([key], of: table) + tags
        ),
        (PostgresStatement("nothing", "SELECT"), []),
      ]
    case .save(let saves): return [write(saves), Self.states(of: saves, in: schema)]
    }
  }

  private func write(_ saves: [PostgresSave]) -> PostgresRecordSession.Statement {
    let first = saves[0]
    let (table, isTagged) = (first.table, first.tag != nil)
    let names = first.columns.indices.map { "c\($0)" } + (isTagged ? ["tag"] : [])
    let source = PostgresRecordSession.keys(of: table, others: names)
    let values = first.columns.enumerated().map { "v.c\($0)::\($1.castType)" }
    let reader = PostgresRowReader(table, first.columns)
    let sql: String
    if first.isInsertion {
      let keys = table.key.columns.enumerated().map { "v.k\($0)::\($1.castType)" }
      let columns = (table.key.columns + first.columns).map(\.quoted).joined(separator: ", ")
      sql = """
        INSERT INTO \(table.quoted) AS t (\(columns)) \
        SELECT \((keys + values).joined(separator: ", ")) FROM \(source) ORDER BY v.i \
        RETURNING 0\(reader.selection)
        """
    } else {
      var settings = zip(first.columns, values).map { "\($0.quoted) = \($1)" }
      // A save always gives the record a new tag, even if it changes nothing.
      if settings.isEmpty {
        settings = table.key.columns.prefix(1).map { "\($0.quoted) = t.\($0.quoted)" }
      }
      sql = """
        UPDATE \(table.quoted) AS t SET \(settings.joined(separator: ", ")) FROM \(source) \
        WHERE \(PostgresRecordSession.isKey(of: table))\
        \(isTagged ? " AND \(table.tag) = v.tag::bigint" : "") RETURNING v.i\(reader.selection)
        """
    }
    var arrays = PostgresRecordSession.arrays(saves.map(\.key), of: table)
    for index in first.columns.indices { arrays.append(.texts(saves.map { $0.values[index] })) }
    if isTagged { arrays.append(.texts(saves.map { $0.tag?.description })) }
    return (PostgresStatement("write \(table.name)", sql), arrays)
  }

  private static func states(
    of saves: [PostgresSave], in schema: PostgresRecordSchema
  ) -> PostgresRecordSession.Statement {
    let table = saves[0].table
    let names = saves.map { save -> String? in
      // The names of keys with several columns are stored as they are.
      save.key.count == 1 ? save.key[0] : save.record.id.name
    }
    let edited = saves.map { save in
      // The time of a later edit of another field stays.
      save.record.edited.map { max($0, save.existing?.modified ?? $0).postgresText }
    }
    guard table.hasWritableStates, edited.contains(where: { $0 != nil }) else {
      let sql = """
        SELECT v.i, \(PostgresTracking.state) FROM unnest($2::text[]) WITH ORDINALITY AS v(name, i) \
        JOIN \(schema.states) AS s ON s.type = $1::text AND s.name = v.name AND NOT s.deleted
        """
      return (
        PostgresStatement("read states of \(table.name)", sql), [.text(table.name), .texts(names)]
      )
    }
    let sql = """
      UPDATE \(schema.states) AS s \
      SET modified = CASE WHEN v.edited IS NULL THEN s.modified \
        ELSE least(v.edited::timestamptz, clock_timestamp()) END \
      FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS v(name, edited, i) \
      WHERE s.type = $1::text AND s.name = v.name AND NOT s.deleted \
      RETURNING v.i, \(PostgresTracking.state)
      """
    return (
      PostgresStatement("write states of \(table.name)", sql),
      [.text(table.name), .texts(names), .texts(edited)]
    )
  }

  // MARK: Replies

  /// Returns the replies, from the results of the statements; nil if a change has found no row, or
  /// has no state.
  func replies(_ rows: PostgresRows, _ states: PostgresRows) -> [RecordReply]? {
    switch work {
    case .delete: return rows.count == 1 ? [.deleted] : nil
    case .save(let saves):
      guard rows.count == saves.count, states.count == saves.count else { return nil }
      let reader = PostgresRowReader(saves[0].table, saves[0].columns)
      var replies = [RecordReply?](repeating: nil, count: saves.count)
      var stateTexts = [String?](repeating: nil, count: saves.count)
      for row in 0..<states.count {
        stateTexts[Int(states.integer(row, 0) ?? 1) - 1] = states.text(row, 1)
      }
      for row in 0..<rows.count {
        let index = saves[0].isInsertion ? row : Int(rows.integer(row, 0) ?? 1) - 1
        let state = PostgresState(stateTexts[index])
        guard let tag = state.tag else { return nil }
        let save = saves[index]
        let stored = reader.fields(rows, row, from: 1)
        replies[index] = .saved(
          save.record.saved(stored, by: save.policy, tag: tag, modified: state.modified) {
            save.existing?.with($0)
          })
      }
      return replies.allSatisfy { $0 != nil } ? replies.compactMap(\.self) : nil
    }
  }
}
