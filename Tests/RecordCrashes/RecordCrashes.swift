import CompositeOperations
import Foundation
import RecordOperations
import SQLiteSupport

/// Work that tests run in a separate process.
///
/// usage: RecordCrashes import|save|export|mirror FOLDER
///        RecordCrashes query FOLDER [WRITTEN]
///        RecordCrashes fill FOLDER SOURCE
///
/// - `import`, `save`, `export` and `mirror` run until they are killed, and print the number of durable
///   rounds after each round, on a line of its own.
/// - `query` prints the number of rows, or the error. With a second folder, where the same file can
///   be written, it first saves a row there by a connection that remains open.
/// - `fill` saves one row and imports a file that is too large for the disk. It prints the error,
///   the size of the log and, after the database is closed, the names of the files and the number
///   of rows.
@main struct RecordCrashes {
  static func main() async throws {
    let (work, folder) = (CommandLine.arguments[1], CommandLine.arguments[2])
    let database = SQLiteRecordDatabase("\(folder)/records.sqlite")
    switch work {
    case "query": return await query(database, writtenIn: CommandLine.arguments.dropFirst(3).first)
    case "fill": return try await fill(database, in: folder, from: CommandLine.arguments[3])
    default: break
    }
    let remote = SQLiteRecordDatabase(
      "\(folder)/remote.sqlite", SQLiteOptions(limits: RecordLimits(items: 3, page: 3)))
    var round = 0
    while true {
      switch work {
      case "import": try await load(round, into: database, from: folder)
      case "save": try await save(round, in: database)
      case "mirror": try await mirror(round, database, remote)
      default: try await export(round, from: database, to: folder)
      }
      round += 1
      // `print` buffers its output, which would be lost.
      FileHandle.standardOutput.write(Data("\(round)\n".utf8))
    }
  }

  /// Imports the rows of one round, a hundred per transaction.
  private static func load(
    _ round: Int, into database: SQLiteRecordDatabase, from folder: String
  ) async throws {
    let file = "\(folder)/rows-\(round % 2).csv"
    let rows = (0..<1_000).map { "\(round),\($0 / 100),text \($0)\n" }.joined()
    try Data("round,batch,text\n\(rows)".utf8).write(to: URL(fileURLWithPath: file))
    _ = try await ImportRecords(
      "Row", into: database, from: file, as: .csv, rowsPerTransaction: 100
    ).run().get()
  }

  /// Saves twenty records in one atomic batch.
  private static func save(_ round: Int, in database: SQLiteRecordDatabase) async throws {
    let records = (0..<20).map { number in
      var record = DatabaseRecord("Row", "\(round)-\(number)")
      record["round"] = .integer(Int64(round))
      return record
    }
    _ = try await SaveRecords(records, in: database, atomic: true).run().get()
  }

  /// Exports three thousand records, all with the number of the round.
  private static func export(
    _ round: Int, from database: SQLiteRecordDatabase, to folder: String
  ) async throws {
    if round == 0 {
      let rows = (0..<3_000).map { "\($0),0\n" }.joined()
      try Data("number,round\n\(rows)".utf8).write(to: URL(fileURLWithPath: "\(folder)/rows.csv"))
      _ = try await ImportRecords(
        "Row", into: database, from: "\(folder)/rows.csv", as: .csv
      ).run().get()
    }
    try await database.write { connection in
      try connection.execute("UPDATE Row SET round = ?1", [.text("\(round)")])
    }
    _ = try await ExportRecords(
      "Row", in: database, columns: ["number", "round"], to: "\(folder)/out.csv", as: .csv
    ).run().get()
  }

  /// Edits records in both files, among them each record twice and a new one that is deleted in the
  /// next round, and runs a round of a mirror.
  private static func mirror(
    _ round: Int, _ local: SQLiteRecordDatabase, _ remote: SQLiteRecordDatabase
  ) async throws {
    func edit(_ name: String, _ field: String) -> RecordChange {
      var record = DatabaseRecord("Row", name)
      record[field] = .integer(Int64(round))
      return .save(record, .allKeys)
    }
    let edits = [edit("\(round % 7)", "here"), edit("new \(round)", "here")]
    _ = try await local.modify(RecordBatch(edits))
    _ = try await local.modify(
      RecordBatch([.delete(RecordID("Row", "new \(round - 1)"), ifTagged: nil)]))
    _ = try await remote.modify(RecordBatch([edit("\(round % 5)", "there")]))
    _ = try await RecordMirror(of: ["Row"], in: local, with: remote).sync.run().get()
  }

  private static func query(
    _ database: SQLiteRecordDatabase, writtenIn folder: String?
  ) async {
    let writer = folder.map { SQLiteRecordDatabase("\($0)/records.sqlite") }
    if let writer {
      _ = await SaveRecords([DatabaseRecord("Row", "new")], in: writer).run()
    }
    switch await QueryRecords("Row", in: database).run() {
    case .result(let rows): print(rows.count)
    case .error(let error): print(error)
    case .cancelled: print("cancelled")
    }
    await writer?.close()
  }

  private static func fill(
    _ database: SQLiteRecordDatabase, in folder: String, from source: String
  ) async throws {
    _ = try await SaveRecords([DatabaseRecord("Row", "first")], in: database).run().get()
    let outcome = await ImportRecords(
      "Row", into: database, from: source, as: .csv, addsColumns: true
    )
    .run()
    print(outcome.error.map { "\($0)" } ?? "no error")
    let log = try FileManager.default.attributesOfItem(atPath: "\(folder)/records.sqlite-wal")
    print(log[.size] as? Int ?? -1)
    await database.close()
    print(try FileManager.default.contentsOfDirectory(atPath: folder).sorted())
    print(try await QueryRecords("Row", in: database).run().get().count)
  }
}
