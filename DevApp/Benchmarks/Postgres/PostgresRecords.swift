#if canImport(PostgresOperations)
  import CompositeOperations
  import Foundation
  import PostgresOperations
  import RecordOperations

  /// The shapes of records in PostgreSQL.
  struct PostgresRecords {
    static let ids = ["records-save", "records-query", "records-hint"]
    static let ours = "records"
    static let copy = "psql \\copy"
    static let psql = "psql"

    private let server: PostgresServer
    private let savedCount: Int
    private let queriedCount: Int

    /// Creates the schemas and the files.
    init(on server: PostgresServer, isQuick: Bool) throws {
      self.server = server
      savedCount = isQuick ? 2_000 : 10_000
      queriedCount = isQuick ? 20_000 : 100_000
    }

    /// Returns the shapes with some names, or all.
    func shapes(named names: [String]) -> [Shape] {
      [save, query, hint].filter { names.isEmpty || names.contains($0.id) }
    }

    private func database(_ schema: String, hinting: Bool = false) -> PostgresRecordDatabase {
      PostgresRecordDatabase(
        server.address, PostgresRecordOptions(schema: schema, hinting: hinting))
    }

    // MARK: Rows

    private static let words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"]
    private static let columns = ["id", "amount", "count", "day", "name", "note"]

    private static func record(_ number: Int) -> DatabaseRecord {
      // The names of records are random by default.
      let bits = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
      var record = DatabaseRecord("Row", String(bits, radix: 16))
      record["count"] = .integer(Int64(number))
      record["amount"] = .double(Double(number % 20_000) / 100 - 100)
      record["name"] = .string("\(words[number % 7]) \(words[number / 7 % 7])")
      record["note"] = number % 3 == 0 ? .null : .string("two\nlines \(number)")
      record["day"] = .date(Date(timeIntervalSince1970: Double(number) * 3_600))
      return record
    }

    private static func records(_ count: Int) -> [DatabaseRecord] { (1...count).map(record) }

    /// Creates a schema whose table has the columns and no rows.
    private func makeSchema(_ name: String) async throws -> PostgresRecordDatabase {
      let database = database(name)
      var first = Self.record(1)
      first["note"] = "a"
      _ = try await SaveRecords([first], in: database).run().get()
      _ = try await DeleteRecords([first.id], in: database).run().get()
      return database
    }

    private func drop(_ schema: String) throws {
      try server.query("drop schema \"\(schema)\" cascade")
    }

    private func checksum(_ schema: String) throws -> UInt64 {
      UInt64(try server.query("select sum(count) from \"\(schema)\".\"Row\"")) ?? 0
    }

    // MARK: Saving

    private var save: Shape {
      let count = savedCount
      let file = Prepared { Result { try rowsFile(count) } }
      let records = Prepared { Self.records(count) }
      return Shape(
        id: "records-save", title: "\(count.grouped) new records in one batch",
        operations: count, unit: .recordsPerSecond,
        ways: [
          Way(Self.ours, .ours, sampling: { try await saveSample(records.value) }),
          Way(
            Self.copy, .limit,
            sampling: { try await copySample(file.value.get(), isTracked: true) }),
          Way(
            "\(Self.copy), no triggers", .limit,
            sampling: { try await copySample(file.value.get(), isTracked: false) }),
        ])
    }

    private func saveSample(_ records: [DatabaseRecord]) async throws -> Sample {
      let schema = "save"
      let database = try await makeSchema(schema)
      try server.query("checkpoint")
      let start = ContinuousClock.now
      _ = try await SaveRecords(records, in: database).run().get()
      let amount = Stopwatch.nanoseconds(since: start)
      await database.close()
      let sum = try checksum(schema)
      try drop(schema)
      return Sample(amount: amount, checksum: sum)
    }

    /// Writes the rows as text for `\copy`.
    private func rowsFile(_ count: Int) throws -> String {
      let formatter = CSVFormatter(hasHeader: false)
      var bytes: [UInt8] = []
      for record in Self.records(count) {
        let values = Self.columns.map { $0 == "id" ? .string(record.id.name) : record[$0] }
        try formatter.append(values, for: Self.columns, to: &bytes)
        formatter.appendDelimiter(to: &bytes)
      }
      let path = "\(server.path)/rows.csv"
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      return path
    }

    private func copySample(_ file: String, isTracked: Bool) async throws -> Sample {
      let schema = "copied"
      await (try makeSchema(schema)).close()
      if !isTracked {
        try server.query("alter table \"\(schema)\".\"Row\" disable trigger user")
      }
      try server.query("checkpoint")
      let columns = Self.columns.joined(separator: ", ")
      let output = try server.commands([
        "\\timing on", "\\copy \"\(schema)\".\"Row\" (\(columns)) from '\(file)' csv",
      ])
      // Time: 12.345 ms
      guard let line = output.split(separator: "\n").last(where: { $0.hasPrefix("Time: ") }),
        let time = Double(line.dropFirst("Time: ".count).prefix { $0 != " " })
      else { throw BenchmarkError("psql has answered: \(output)") }
      let sum = try checksum(schema)
      try drop(schema)
      return Sample(amount: time * 1e6, checksum: sum)
    }

    // MARK: Queries

    private var query: Shape {
      let count = queriedCount
      let made = Prepared {
        Result { try BlockingWait.value { try await makeQueriedSchema(count) } }
      }
      return Shape(
        id: "records-query", title: "all of \(count.grouped) records", operations: count,
        unit: .recordsPerSecond,
        ways: [
          Way(Self.ours, .ours, sampling: { try await querySample(made.value.get()) }),
          .blocking(Self.psql, .limit, sampling: { try psqlSample(made.value.get(), count) }),
        ])
    }

    private func makeQueriedSchema(_ count: Int) async throws -> String {
      let schema = "queried"
      let database = try await makeSchema(schema)
      _ = try await SaveRecords(Self.records(count), in: database).run().get()
      await database.close()
      try server.query(
        "vacuum analyze \"\(schema)\".\"Row\", \"\(schema)\".record_states")
      return schema
    }

    private func querySample(_ schema: String) async throws -> Sample {
      let start = ContinuousClock.now
      let database = database(schema)
      var count = 0
      for try await page in QueryRecords("Row", in: database).pages { count += page.count }
      await database.close()
      return Sample(amount: Stopwatch.nanoseconds(since: start), checksum: UInt64(count))
    }

    private func psqlSample(_ schema: String, _ count: Int) throws -> Sample {
      let output = "\(server.path)/rows.out"
      let columns = Self.columns.joined(separator: ", ")
      let start = ContinuousClock.now
      try server.commands([
        "\\pset fieldsep ' '", "\\o '\(output)'",
        "select \(columns) from \"\(schema)\".\"Row\" where note is null or note is not null",
      ])
      let amount = Stopwatch.nanoseconds(since: start)
      let size = try Data(contentsOf: URL(fileURLWithPath: output)).count
      if size < count * 20 { throw BenchmarkError("psql has written \(size) bytes") }
      return Sample(amount: amount, checksum: UInt64(count))
    }

    // MARK: Hints

    private var hint: Shape {
      Shape(
        id: "records-hint",
        title: "from the start of a statement that changes a record until the hint", operations: 1,
        unit: .milliseconds, ways: [Way(Self.ours, .ours, sampling: { try await hintSample() })])
    }

    /// The median of 51 statements.
    private func hintSample() async throws -> Sample {
      let schema = "hinted"
      let database = try await makeSchema(schema)
      _ = try await SaveRecords([Self.record(2)], in: database).run().get()
      var hints = self.database(schema, hinting: true).hints(in: .default).makeAsyncIterator()
      _ = await hints.next()
      let pool = PostgresPool(to: server.address, capacity: 1)
      let statement = PostgresStatement(
        "change a record", "UPDATE \"\(schema)\".\"Row\" SET amount = amount + 1")
      var times: [Double] = []
      for _ in 0..<52 {
        let start = ContinuousClock.now
        _ = try await pool.run { try $0.rows(statement) }
        _ = await hints.next()
        times.append(Stopwatch.nanoseconds(since: start))
      }
      await pool.close()
      await database.close()
      try drop(schema)
      // The first one prepares the statement.
      return Sample(amount: times.dropFirst().sorted()[25], checksum: 0)
    }
  }
#endif
