import CompositeOperations
import Foundation
import RecordOperations
import SQLiteSupport
import Testing

/// Databases that can be read but not written.
@Suite struct SQLiteOpeningTests {
  /// Creates a file in WAL mode with two rows, and no files beside it.
  private static func make(_ folder: TemporaryFolder) throws {
    try execute(
      ["CREATE TABLE Row (id TEXT PRIMARY KEY NOT NULL)", "INSERT INTO Row VALUES ('a'), ('b')"],
      in: folder.file())
  }

  private static func permissions(_ permissions: Int, _ path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
  }

  /// Runs a body without the permission to write a folder. Only for exit tests, because it changes
  /// the user of the process.
  ///
  /// - Parameter files: The permissions of the files in the folder.
  private static func forbidWriting(
    _ folder: TemporaryFolder, files: Int, _ body: () async throws -> Void
  ) async throws {
    for name in try folder.names { try permissions(files, folder.file(name)) }
    try permissions(0o555, folder.path)
    defer { try? permissions(0o755, folder.path) }
    // Root can write everywhere.
    let isRoot = geteuid() == 0
    if isRoot { try #require(seteuid(65_534) == 0) }
    defer { if isRoot { seteuid(0) } }
    try await body()
  }

  private static func query(
    _ database: SQLiteRecordDatabase
  ) async -> Outcome<[DatabaseRecord]> {
    await QueryRecords("Row", in: database).run()
  }

  private static func database(
    _ folder: TemporaryFolder, _ access: String
  ) throws -> SQLiteRecordDatabase {
    let access = try #require(SQLiteOptions.Access(rawValue: access))
    return SQLiteRecordDatabase(folder.file(), SQLiteOptions(access: access))
  }

  /// Raw values, which an exit test can capture.
  static let accesses = SQLiteOptions.Access.allCases.map(\.rawValue)

  @Test(arguments: accesses)
  func `D12: a file that no user may write can be read with every access`(
    access: String
  ) async throws {
    await #expect(processExitsWith: .success) { [access] in
      let folder = try TemporaryFolder()
      try Self.make(folder)
      try await Self.forbidWriting(folder, files: 0o444) {
        let outcome = try await Self.query(Self.database(folder, access))
        #expect(outcome.result?.count == 2, "\(outcome)")
        #expect(try folder.names == ["records.sqlite"])
      }
    }
  }

  @Test(arguments: accesses)
  func `D12: a file that another user may write is opened as immutable only on request`(
    access: String
  ) async throws {
    await #expect(processExitsWith: .success) { [access] in
      let folder = try TemporaryFolder()
      try Self.make(folder)
      try await Self.forbidWriting(folder, files: 0o644) {
        let outcome = try await Self.query(Self.database(folder, access))
        if access == "immutable" {
          #expect(outcome.result?.count == 2, "\(outcome)")
          return
        }
        let error = try #require((outcome.error as? RecordQueryError)?.cause as? RecordError)
        #expect(error.name == "notPermitted")
        for part in [folder.file(), "WAL mode", "open it as immutable", "journal_mode = DELETE"] {
          #expect("\(error)".contains(part), "\(error)")
        }
        #expect(try await Self.database(folder, access).accountStatus() == .restricted)
      }
    }
  }

  @Test(arguments: accesses)
  func `D12: changes that are only in an unreadable log are an error instead of omitted`(
    access: String
  ) async throws {
    await #expect(processExitsWith: .success) { [access] in
      let (folder, copy) = (try TemporaryFolder(), try TemporaryFolder())
      try Self.make(folder)
      let connection = try otherConnection(folder.file())
      try connection.execute("INSERT INTO Row VALUES ('c')")
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(
          atPath: folder.file() + suffix, toPath: copy.file() + suffix)
      }
      try await Self.forbidWriting(copy, files: 0o444) {
        let outcome = try await Self.query(Self.database(copy, access))
        let error = try #require((outcome.error as? RecordQueryError)?.cause as? RecordError)
        #expect(error.name == "notPermitted" && "\(error)".contains("\(copy.file())-wal"))
        #expect("\(error)".contains("Copy both files to a writable folder"))
      }
      #expect(try folder.names.count == 3)
    }
  }

  @Test func `the error for writing a file in a read-only folder contains the reason`() async throws
  {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      try Self.make(folder)
      try await Self.forbidWriting(folder, files: 0o666) {
        for (name, part) in [
          ("records.sqlite", "SQLite must create files in its folder"),
          ("new", "cannot be created: its folder is not writable"),
        ] {
          let database = SQLiteRecordDatabase(folder.file(name))
          let (code, text) = await database.refusal(of: record("c", type: "Row"))
          #expect(code == "notPermitted" && text.contains(part), "\(text)")
        }
      }
    }
  }

  @Test(arguments: accesses)
  func `an interrupted transaction that cannot be rolled back is an error`(
    access: String
  ) async throws {
    await #expect(processExitsWith: .success) { [access] in
      let (folder, copy) = (try TemporaryFolder(), try TemporaryFolder())
      let connection = try otherConnection(folder.file())
      for sql in [
        "PRAGMA journal_mode = DELETE", "CREATE TABLE Row (id TEXT PRIMARY KEY NOT NULL, a)",
        """
        INSERT INTO Row WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000)
        SELECT i, zeroblob(1000) FROM n
        """, "PRAGMA cache_size = 1", "BEGIN", "UPDATE Row SET a = zeroblob(999)",
      ] { try connection.execute(sql) }
      for suffix in ["", "-journal"] {
        try FileManager.default.copyItem(
          atPath: folder.file() + suffix, toPath: copy.file() + suffix)
      }
      try await Self.forbidWriting(copy, files: 0o444) {
        let outcome = try await Self.query(Self.database(copy, access))
        let error = try #require((outcome.error as? RecordQueryError)?.cause as? RecordError)
        #expect(error.name == "notPermitted")
        #expect("\(error)".contains("Open the file once where it can be written"), "\(error)")
      }
      #expect(connection.isInTransaction)
    }
  }

  @Test func `the error for a file that cannot be created names the missing folder`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file("no/records.sqlite"))
    let (code, text) = await database.refusal(of: record("c"))
    #expect(
      code == "storage" && text.contains("no such folder: \(folder.file("no"))"), "\(text)")
  }

  @Test func `an immutable file is not written, and has no files beside it`()
    async throws
  {
    let folder = try TemporaryFolder()
    try Self.make(folder)
    let database = SQLiteRecordDatabase(folder.file(), SQLiteOptions(access: .immutable))
    #expect(try await database.all(RecordQuery("Row")).count == 2)
    #expect(try folder.names == ["records.sqlite"])
    #expect(await database.refusal(of: record("c", type: "Row")).code == "notPermitted")
    let missing = SQLiteRecordDatabase(folder.file("no"), SQLiteOptions(access: .immutable))
    #expect(await failure { _ = try await missing.all(RecordQuery("Row")) }.code == "storage")
  }

  // MARK: Disks

  @Test(.enabled(if: MountShell.isAvailable, "This process may not mount file systems."))
  func `D12: a file on a read-only disk is read`() async throws {
    let folder = try TemporaryFolder()
    try Self.make(folder)
    let script = """
      mkdir "$1/disk"
      mount -t tmpfs none "$1/disk"
      cp "$1/records.sqlite" "$1/disk"
      mount -t tmpfs -o remount,ro none "$1/disk"
      "$2" query "$1/disk"
      """
    #expect(try await MountShell.lines(script, folder.path, MountShell.recordProgram) == ["2"])
  }

  @Test(.enabled(if: MountShell.isAvailable, "This process may not mount file systems."))
  func `D12: a read-only mount of a writable disk is not a read-only disk`()
    async throws
  {
    let folder = try TemporaryFolder()
    try Self.make(folder)
    let script = """
      mkdir "$1/disk"
      mount -t tmpfs none "$1/disk"
      mkdir "$1/disk/original" "$1/disk/view"
      cp "$1/records.sqlite" "$1/disk/original"
      mount --bind "$1/disk/original" "$1/disk/view"
      mount -o remount,bind,ro "$1/disk/view"
      "$2" query "$1/disk/view"
      "$2" query "$1/disk/view" "$1/disk/original"
      """
    let lines = try await MountShell.lines(script, folder.path, MountShell.recordProgram)
    #expect(lines.count == 2)
    #expect(lines.first?.contains("open it as immutable") == true, "\(lines)")
    // While another process has it open, the files that are needed to read its changes exist.
    #expect(lines.last == "3")
  }

  static let mounts = """
    22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro
    30 22 8:1 /data /view ro,relatime - ext4 /dev/sda1 rw,errors=remount-ro
    31 22 11:0 / /cd ro,nosuid master:1 propagate_from:2 - iso9660 /dev/sr0 ro,map=n
    32 22 8:17 / /snapshot ro,relatime - xfs /dev/sdb1 ro,attr2
    33 22 0:50 / /net ro,relatime - nfs4 server:/data ro,vers=4.2
    34 22 0:51 / / ro,relatime - overlay overlay ro,lowerdir=/a
    35 22 8:33 / /short ro - ext4
    """

  @Test(arguments: [
    ("8:1", false), ("11:0", true), ("8:17", true), ("0:50", false), ("0:51", false),
    ("8:33", false), ("8:2", false), ("1:0", false),
  ])
  func `D12: a disk is read-only if its file system is, and nothing else can write it`(
    device: String, isReadOnly: Bool
  ) {
    #expect(MountTable(Self.mounts).isReadOnly(device: device) == isReadOnly)
  }
}
