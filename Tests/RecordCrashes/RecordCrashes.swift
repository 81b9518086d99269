import CompositeOperations
import Foundation
import RecordOperations

/// Work that tests run in a process of its own.
///
/// usage: RecordCrashes import|save|export FOLDER
///        RecordCrashes query FOLDER [WRITTEN]
///        RecordCrashes fill FOLDER SOURCE
///
/// - `import`, `save` and `export` work until they are killed, and print each piece of work that is
///   durable on a line of its own.
/// - `query` prints how many rows there are, or the error. If the same file is in a second folder, where it can be written,
///   a row is saved there first by a connection that stays open.
/// - `fill` imports a file that is too large for the disk after one row was saved, and prints the error, the size of the log
///   and, when the database is closed, the names of the files.
@main struct RecordCrashes {
  static func main() async throws {
    let (work, folder) = (CommandLine.arguments[1], CommandLine.arguments[2])
    let database = SQLiteRecordDatabase("\(folder)/records.sqlite")
    switch work {
    case "query": return await query(database, writtenIn: CommandLine.arguments.dropFirst(3).first)
    case "fill": return try await fill(database, in: folder, from: CommandLine.arguments[3])
    default: break
    }
    var round = 0
    while true {
      switch work {
      case "import": try await load(round, into: database, from: folder)
      case "save": try await save(round, in: database)
      default: try await export(round, from: database, to: folder)
      }
      round += 1
      // Not by `print`, which keeps what it prints for a while.
      FileHandle.standardOutput.write(Data("\(round)\n".utf8))
    }
  }

  /// Rows of one round, a hundred at once.
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

  /// Twenty records that are saved together.
  private static func save(_ round: Int, in database: SQLiteRecordDatabase) async throws {
    let records = (0..<20).map { number in
      var record = DatabaseRecord("Row", "\(round)-\(number)")
      record["round"] = .integer(Int64(round))
      return record
    }
    _ = try await SaveRecords(records, in: database, atomic: true).run().get()
  }

  /// Three thousand records of which all have the number of the round.
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
      try connection.run("UPDATE Row SET round = ?1", [.text("\(round)")])
    }
    _ = try await ExportRecords(
      "Row", in: database, columns: ["number", "round"], to: "\(folder)/out.csv", as: .csv
    ).run().get()
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
