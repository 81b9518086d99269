import CompositeOperations
import Foundation
import RecordOperations
import SQLiteSupport

/// Three replicas and a remote database, with random edits, rounds and faults, and a record of all
/// values that were written.
final class MirrorModel {
  private let folder: TemporaryFolder
  private let server: any MirrorServer
  private let remote: WatchedDatabase
  private var mirrors: [RecordMirror] = []
  private var random: OperationRandomness
  private var counter = 0
  /// The values that an edit or a deletion replaced where they were seen.
  private var replaced: Set<String> = []
  private var written: Set<String> = []
  /// The deletions of records that both databases had, without a later edit, and how many deletions
  /// of the record were reported as lost before.
  private var deleted: [RecordID: Int] = [:]
  /// The statements and rounds so far, to explain a failure.
  private(set) var history: [String] = []

  static let types = ["Author", "Book", "Chapter"]

  init(seed: UInt64, on kind: DatabaseKind) throws {
    folder = try TemporaryFolder()
    random = OperationRandomness.seeded(seed)
    server = try kind.makeMirrorServer(limits: RecordLimits(items: 3, page: 3))
    remote = WatchedDatabase(server, FaultPlan(seed: seed, cutsConnections: kind == .postgres))
    let conflicts: ConflictPolicy =
      switch Int.random(in: 0..<4, using: &random) {
      case 0: .remoteWins
      case 1: .localWins
      case 2: .newest
      default:
        .decided { conflict in
          conflict.fields == ["title"] ? .values(["title": conflict.local["title"]]) : .remote
        }
      }
    let deletions: DeletionPolicy = Bool.random(using: &random) ? .lose : .win
    history.append("\(conflicts), deletions \(deletions)")
    for number in 0..<3 {
      mirrors.append(
        RecordMirror(
          of: Self.types, in: SQLiteRecordDatabase(folder.file("\(number).sqlite")), with: remote,
          conflicts: conflicts, deletions: deletions,
          retries: RetryPolicy(attempts: 2, backoff: .none),
          transactionSize: Int.random(in: 1...8, using: &random)))
    }
  }

  /// Creates the tables of the last replica as another program would, in half of the models.
  func prepare() async throws {
    guard Bool.random(using: &random) else { return }
    history.append("2: tables of another program")
    try await mirrors[2].local.write { connection in
      for sql in [
        "CREATE TABLE Author (id TEXT PRIMARY KEY, name TEXT)",
        """
        CREATE TABLE Book (id TEXT PRIMARY KEY, title TEXT DEFAULT 'untitled', pages INTEGER, \
        author TEXT REFERENCES Author(id) ON DELETE SET NULL, sequel TEXT REFERENCE)
        """,
        """
        CREATE TABLE Chapter (id TEXT PRIMARY KEY, text TEXT, \
        book TEXT REFERENCES Book(id) ON DELETE CASCADE)
        """,
      ] { try connection.execute(sql) }
    }
  }

  // MARK: Steps

  /// Makes a random edit, or runs a round with faults.
  func step() async throws {
    let number = Int.random(in: 0..<mirrors.count, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<60: try await edit(number)
    case 60..<62:
      history.append("remote forgets deletions")
      try await server.forgetDeletions()
    default:
      let outcome = await remote.faults.whileActive { await self.round(number) }
      try await server.settle()
      history.append("\(number): round: \(outcome)")
    }
  }

  private func round(_ number: Int) async -> Outcome<MirrorReport> {
    let run = mirrors[number].sync.start()
    remote.faults.kill = { run.cancel() }
    defer { remote.faults.kill = nil }
    return await run.outcome
  }

  /// Rounds without faults until nothing changes.
  ///
  /// - Returns: A description of what did not come to rest; nil if everything did.
  func quiet() async throws -> String? {
    for _ in 0..<12 {
      var isQuiet = true
      for number in mirrors.indices {
        let outcome = await round(number)
        history.append("\(number): quiet round: \(outcome)")
        guard case .result(let report) = outcome else { return "a round failed: \(outcome)" }
        if !report.isEmpty { isQuiet = false }
      }
      if isQuiet { return nil }
    }
    return "the replicas do not come to rest"
  }

  /// Compares the replicas with the remote database, and looks for lost values.
  func problem() async throws -> String? {
    let expected = try await server.observer.contents
    for (number, mirror) in mirrors.enumerated() {
      let found = try await mirror.local.contents
      if found != expected { return "replica \(number) has \(found), the remote \(expected)" }
    }
    var reported: Set<String> = []
    for mirror in mirrors {
      reported.formUnion(
        try await mirror.local.read { connection in
          try connection.fetchAll("SELECT lost FROM _record_mirror_conflicts") {
            $0.text(at: 0) ?? ""
          }
        })
    }
    let current = expected.values.reduce(into: Set<String>()) { $0.formUnion($1.values) }
    let lost = written.subtracting(current).subtracting(replaced).subtracting(reported)
      .subtracting(remote.cascaded)
    if !lost.isEmpty { return "lost without a report: \(lost.sorted())" }
    for (id, count) in deleted where expected[id] != nil {
      let isReported = try await lostDeletionCount(of: id) > count
      if !isReported { return "the deletion of \(id) was lost without a report" }
    }
    return nil
  }

  private func lostDeletionCount(of id: RecordID) async throws -> Int {
    var count = 0
    for mirror in mirrors {
      count += try await mirror.lostValues().count { $0.record == id && $0.field == nil }
    }
    return count
  }

  // MARK: Edits

  private func edit(_ number: Int) async throws {
    let database = mirrors[number].local
    let before = try await database.contents
    let random = { (count: Int) in Int.random(in: 0..<count, using: &self.random) }
    let author = RecordID("Author", "a\(random(3))")
    let book = RecordID("Book", "b\(random(4))")
    let chapter = RecordID("Chapter", "c\(random(3))")
    let change: (RecordID, [String: FieldValue])?
    switch random(20) {
    case 0..<3: change = (author, ["name": value()])
    case 3..<7: change = (book, ["title": value()])
    case 7..<9: change = (book, ["title": value(), "pages": count()])
    case 9..<11: change = (book, ["pages": count()])
    case 11..<13:
      guard before[author] != nil else { return }
      let rule: RecordReference.DeleteRule = .nullify
      change = (book, ["author": .reference(RecordReference(author, onDelete: rule))])
    case 13:
      // A reference that may lead nowhere.
      change = (book, ["sequel": .reference(RecordReference(RecordID("Book", "b\(random(4))")))])
    case 14: change = (book, ["title": nil])
    case 15..<17:
      guard before[book] != nil else { return }
      change = (
        chapter,
        ["text": value(), "book": .reference(RecordReference(book, onDelete: .cascade))]
      )
    default: change = nil
    }
    if let (id, fields) = change {
      try await save(id, fields, exists: before[id] != nil, in: number)
      deleted[id] = nil
      for case .string(let text) in fields.values { written.insert("\"\(text)\"") }
      for case .integer(let number) in fields.values { written.insert("\(number)") }
    } else {
      let id = [author, book, book, chapter][random(4)]
      guard before[id] != nil else { return }
      history.append("\(number): delete \(id)")
      if try await isKnownDeletion(of: id, in: number) {
        deleted[id] = try await lostDeletionCount(of: id)
      }
      if number == 2 {
        try await database.write {
          try $0.execute("DELETE FROM \(id.type) WHERE id = '\(id.name)'")
        }
      } else {
        _ = try await database.modify(RecordBatch([.delete(id, ifTagged: nil)]))
      }
    }
    let after = try await database.contents
    let values = { (contents: Contents) in
      contents.values.reduce(into: Set<String>()) { $0.formUnion($1.values) }
    }
    replaced.formUnion(values(before).subtracting(values(after)))
  }

  /// Whether a replica deletes a record of the remote database, and no other replica has created
  /// another one with the same ID.
  private func isKnownDeletion(of id: RecordID, in number: Int) async throws -> Bool {
    guard try await isCommon(id, in: number) else { return false }
    for other in mirrors.indices where other != number {
      let contents = try await mirrors[other].local.contents
      if contents[id] != nil, try await !isCommon(id, in: other) { return false }
    }
    return true
  }

  /// Whether a replica knows that the remote database has a record.
  private func isCommon(_ id: RecordID, in number: Int) async throws -> Bool {
    try await mirrors[number].local.read { connection in
      let exists = "SELECT 1 FROM sqlite_schema WHERE name = '_record_mirror_bases'"
      guard try connection.fetchOne(exists, [], { _ in true }) != nil else { return false }
      return try connection.fetchOne(
        """
        SELECT 1 FROM _record_mirror_bases WHERE type = ?1 AND name = ?2 AND tag IS NOT NULL \
        AND sequence <> 0
        """, [.text(id.type), .text(id.name)]
      ) { _ in true } ?? false
    }
  }

  /// Saves a record: in the last replica by a statement of another program.
  private func save(
    _ id: RecordID, _ fields: [String: FieldValue], exists: Bool, in number: Int
  ) async throws {
    history.append("\(number): save \(id) \(fields)")
    let database = mirrors[number].local
    let isComplete = try await database.read { connection in
      try connection.table(id.type).map { table in
        fields.keys.allSatisfy { key in table.columns.contains { $0.name == key } }
      } ?? false
    }
    guard number == 2, isComplete else {
      var record = DatabaseRecord(id)
      for (key, value) in fields { record[key] = value }
      _ = try await database.modify(RecordBatch([.save(record, .allKeys)]))[0].saved
      return
    }
    try await database.write { connection in
      if !exists { try connection.execute("INSERT INTO \(id.type) (id) VALUES ('\(id.name)')") }
      for (key, value) in fields {
        let text =
          switch value {
          case .string(let text): "'\(text)'"
          case .integer(let number): "\(number)"
          case .reference(let reference) where reference.onDelete == .keep:
            "'\(reference.id.type)/\(reference.id.name)'"
          case .reference(let reference): "'\(reference.id.name)'"
          default: "NULL"
          }
        try connection.execute("UPDATE \(id.type) SET \(key) = \(text) WHERE id = '\(id.name)'")
      }
    }
  }

  private func value() -> FieldValue {
    counter += 1
    return .string("v\(counter)")
  }

  private func count() -> FieldValue {
    counter += 1
    return .integer(Int64(counter))
  }
}

/// The values of all records that are not null, as JSON.
typealias Contents = [RecordID: [String: String]]

extension RecordDatabase {
  /// The records of the types of a ``MirrorModel``.
  var contents: Contents {
    get async throws {
      var contents: Contents = [:]
      for type in MirrorModel.types {
        for record in try await all(RecordQuery(type), page: 100) {
          contents[record.id] = [:]
          for key in record.keys where record[key] != .null {
            let text =
              switch record[key] {
              case .string(let text): "\"\(text)\""
              case .integer(let number): "\(number)"
              case .reference(let reference): "\(reference.id)"
              default: "\(record[key])"
              }
            contents[record.id]?[key] = text
          }
        }
      }
      return contents
    }
  }
}
