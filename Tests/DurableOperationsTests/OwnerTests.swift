import CompositeOperations
import DurableOperations
import DurableTestSupport
import Foundation
import SQLiteSupport
import SystemSupport
import TestSupport
import Testing

/// Who lives, as far as other processes can see.
@Suite(.timeLimit(.minutes(10))) struct OwnerTests {
  private func eventually(_ condition: () async throws -> Bool) async throws {
    while try await !condition() { try await Task.sleep(for: .milliseconds(1)) }
  }

  /// Waits until the only run is claimed.
  private func waitForClaim(in store: RunStore) async throws {
    try await eventually { try await store.runs().map(\.state) == [.running] }
  }

  @Test(arguments: ["link.sqlite", "flows.sqlite", "./folder/../flows.sqlite", ".//flows.sqlite"])
  func `J10: a run belongs to its process, by whatever path that has opened the journal`(
    path: String
  ) async throws {
    let folder = try CrashFolder()
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/link.sqlite", withDestinationPath: "flows.sqlite")
    try FileManager.default.createDirectory(
      atPath: folder.path + "/folder", withIntermediateDirectories: false)
    let store = RunStore.sqlite(folder.journal)
    try await store.start(EndlessFlow(), named: "r")
    // It would be another file in the working folder that the process has then.
    let process = try folder.start("hold", launch: 1, ["/"], journal: path)
    try await waitForClaim(in: store)
    #expect(try await store.runs().map(\.ownerHasEnded) == [false])
    guard case .taken = try await store.backend.claim("r") else {
      Issue.record("the claim of a living process was ignored")
      return
    }
    kill(process.processIdentifier, SIGKILL)
    _ = await process.end()
    #expect(try await store.runs().map(\.ownerHasEnded) == [true])
    guard case .claimed = try await store.backend.claim("r") else {
      Issue.record("the run of a killed process was not taken over")
      return
    }
  }

  @Test func `J10: a process in another working folder sees what others change in its journal`()
    async throws
  {
    let folder = try CrashFolder()
    let store = RunStore.sqlite(folder.journal)
    try await store.start(EndlessFlow(), named: "r")
    let process = try folder.start("hold", launch: 1, ["/"], journal: "flows.sqlite")
    try await waitForClaim(in: store)
    try await store.cancel("r")
    try await eventually { try await store.runs().map(\.state) == [.cancelled] }
    kill(process.processIdentifier, SIGKILL)
    _ = await process.end()
  }

  @Test func `J10: other descriptors of the file do not end the lock of a process`() async throws {
    let folder = try CrashFolder()
    let store = RunStore.sqlite(folder.journal)
    try await store.start(EndlessFlow(), named: "r")
    // The process opens and closes its journal, checkpoints it, and compacts it.
    let process = try folder.start("hold", launch: 1, ["/", "disturb"])
    try await waitForClaim(in: store)
    try await eventually { FileManager.default.fileExists(atPath: folder.path + "/disturbed") }
    #expect(try await store.runs().map(\.ownerHasEnded) == [false])
    kill(process.processIdentifier, SIGKILL)
    _ = await process.end()
    #expect(try await store.runs().map(\.ownerHasEnded) == [true])
  }

  @Test func `J10: the lock of an owner is seen by a descriptor that may only read`() async throws {
    try await withTemporaryFile { file in
      let owner = RunStore.sqlite(file)
      try await owner.start(Sum(count: 1), named: "r")
      _ = try await owner.backend.claim("r")
      let descriptor = try FileDescriptor.open(file, .readOnly)
      defer { try? descriptor.close() }
      #expect(try descriptor.isLockedByOthers(byte: 1 << 62 + 1))
      #expect(try !descriptor.isLockedByOthers(byte: 1 << 62 + 2))
    }
  }

  @Test func `J10: a waiting operation continues the run of an ended process`() async throws {
    try await withTemporaryFile { file in
      var first: RunStore? = RunStore.sqlite(file)
      try await first?.start(Sum(count: 2), named: "r")
      _ = try await first?.backend.claim("r")
      let second = RunStore.sqlite(file)
      let waiting = DurableOperation(Sum(count: 2), named: "r", in: second).start()
      try await eventually { second.backend.changes.isAwaited }
      #expect(try await second.runs().map(\.state) == [.running])
      first = nil
      #expect(try await waiting.outcome.get() == 3)
    }
  }

  @Test func `J10: a program that awaits an outcome continues the run of an ended process`()
    async throws
  {
    try await withTemporaryFile { file in
      var first: RunStore? = RunStore.sqlite(file)
      try await first?.start(Sum(count: 2), named: "r")
      _ = try await first?.backend.claim("r")
      let store = RunStore.sqlite(file)
      let handle = try await store.start(Sum(count: 2), named: "r")
      async let outcome = handle.outcome
      try await eventually { store.backend.changes.isAwaited }
      first = nil
      #expect(try await outcome.get() == 3)
    }
  }

  @Test func `J10: a program that has continued a run also continues it after a wait`() async throws
  {
    try await withTemporaryFile { file in
      var first: RunStore? = RunStore.sqlite(file)
      try await first?.start(Single(.event), named: "r")
      _ = try await first?.backend.claim("r")
      let store = RunStore.sqlite(file)
      let handle = try await store.start(Single(.event), named: "r")
      async let outcome = handle.outcome
      first = nil
      try await eventually { try await store.runs().map(\.state) == [.parked] }
      try await store.send(5, as: "go", to: "r")
      #expect(try await outcome.get() == 5)
    }
  }

  @Test func `J10: an owner that cannot be judged keeps its runs, and is named`() async throws {
    try await withTemporaryFile { file in
      var first: RunStore? = RunStore.sqlite(file)
      try await first?.start(Sum(count: 1), named: "r")
      _ = try await first?.backend.claim("r")
      first = nil
      let store = RunStore.sqlite(file, failingToLockWith: .notSupported)
      let run = try #require(try await store.runs().first)
      #expect(run.state == .running && !run.ownerHasEnded)
      #expect(run.ownerProblem?.contains("is on a file system without locks of open files") == true)
      let problems = try await store.check()
      let process = "process \(SystemProcess.identifier) (\(SystemProcess.programName))"
      #expect(
        problems.count == 1 && problems[0].hasPrefix("\(process) may have ended"), "\(problems)")
      let error = await #expect(throws: RunStoreError.self) {
        _ = try await store.backend.claim(flows: ["Sum"], limit: 1, isIdle: true)
      }
      #expect(error?.reason == .noLocks)
      #expect(try await RunStore.sqlite(file).run("r")?.summary.ownerHasEnded == true)
    }
  }

  @Test func `J10: a journal that was moved while it was open is not used under its old name`()
    async throws
  {
    try await withTemporaryFile { file in
      let store = RunStore.sqlite(file)
      try await store.start(Sum(count: 1), named: "r")
      try FileManager.default.moveItem(atPath: file, toPath: file + ".moved")
      try await RunStore.sqlite(file).start(Sum(count: 1), named: "other")
      let error = await #expect(throws: RunStoreError.self) {
        _ = try await store.backend.claim("r")
      }
      #expect(error?.reason == .notAccessible)
      #expect(error?.description.contains("was moved, removed or replaced") == true)
    }
  }

  @Test(arguments: [false, true])
  func `J10: a worker whose journal is removed or replaced ends in an error that says so`(
    isReplaced: Bool
  ) async throws {
    try await withTemporaryFile { file in
      let store = RunStore.sqlite(file)
      let worker = DurableWorker(in: store, running: [Sum.self]).start()
      #expect(try await store.start(Sum(count: 1), named: "r").outcome.result != nil)
      for suffix in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: file + suffix)
      }
      if isReplaced { try await RunStore.sqlite(file).start(Sum(count: 1), named: "other") }
      let error = await worker.outcome.error as? RunStoreError
      #expect(error?.reason == .notAccessible, "\(error as Any)")
    }
  }

  @Test func `J24: a folder is refused as a folder`() async throws {
    let folder = try CrashFolder()
    let path = (folder.journal as NSString).deletingLastPathComponent
    let error = await #expect(throws: RunStoreError.self) {
      try await RunStore.sqlite(path).start(Sum(count: 1), named: "r")
    }
    #expect(error?.description.contains("is a folder") == true, "\(error as Any)")
  }

  @Test func `J24: a file with two names is refused`() async throws {
    try await withTemporaryFile { file in
      try await RunStore.sqlite(file).start(Sum(count: 1), named: "r")
      try FileManager.default.linkItem(atPath: file, toPath: file + ".other")
      let error = await #expect(throws: RunStoreError.self) {
        try await RunStore.sqlite(file).start(Sum(count: 1), named: "s")
      }
      #expect(error?.reason == .notAccessible)
      #expect(error?.description.contains("one of 2 names of a file") == true)
    }
  }

  @Test(arguments: ["flows.sqlite", "link.sqlite"])
  func `J24: the journal is created for its owner only, also through a link`(name: String)
    async throws
  {
    try await withTemporaryFile { file in
      let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
      try FileManager.default.createSymbolicLink(
        atPath: folder + "/link.sqlite", withDestinationPath: "flows.sqlite")
      try await RunStore.sqlite("\(folder)/\(name)").start(Sum(count: 1), named: "r")
      let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
      #expect((mode as? NSNumber)?.intValue == 0o600)
      // Its last changes are beside the file, and not beside the link.
      #expect(!FileManager.default.fileExists(atPath: folder + "/link.sqlite-wal"))
    }
  }

  @Test func `J24: SQLite does not create the target of a link with permissions of its own`()
    async throws
  {
    try await withTemporaryFile { file in
      try FileManager.default.createSymbolicLink(
        atPath: file + ".link", withDestinationPath: file)
      _ = try SQLiteConnection.open(
        file + ".link", for: .writing, SQLiteConfiguration(permissions: 0o600))
      #expect(try FileStatus(ofFile: file).permissions == 0o600)
    }
  }

  @Test func `J10: a journal that was replaced is not opened by new connections`() async throws {
    try await withTemporaryFile { file in
      let store = RunStore.sqlite(file)
      try await store.start(Sum(count: 1), named: "r")
      try FileManager.default.moveItem(atPath: file, toPath: file + ".moved")
      for end in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + end) }
      try await RunStore.sqlite(file).start(Sum(count: 1), named: "other")
      let error = await #expect(throws: RunStoreError.self) { try await store.runs() }
      #expect(error?.description.contains("was moved, removed or replaced") == true)
    }
  }

  @Test func `J10: a process that registers again after a failed commit keeps its lock`()
    async throws
  {
    try await withTemporaryFile { file in
      let fails = Lock(true)
      let store = RunStore.sqlite(file) { moment, connection in
        let fails = fails.withLock { fails in
          defer { if moment == .beforeCommit { fails = false } }
          return fails && moment == .beforeCommit
        }
        if !fails { return }
        guard try connection.fetchOne("SELECT 1 FROM run_process", [], { _ in true }) != nil else {
          return
        }
        throw SQLiteError(.constraint, "a test", file: file)
      }
      try await store.start(Sum(count: 1), named: "r")
      fails.withLock { $0 = true }
      // Two writes share the transaction of the registration, which fails, and each is made again.
      async let one = try? store.backend.claim("r")
      async let other = try? store.start(Sum(count: 1), named: "s")
      _ = await (one, other)
      if case .ready? = try await store.runs().first(where: { $0.id == "r" })?.state {
        _ = try await store.backend.claim("r")
      }
      #expect(try await RunStore.sqlite(file).run("r")?.summary.ownerHasEnded == false)
      withExtendedLifetime(store) {}
    }
  }

  @Test func `J10: a journal of version 1 is taken over by a process with the number of its owner`()
    async throws
  {
    try await withTemporaryFile { file in
      try FormerJournal.make(
        file, program: SystemProcess.programName, process: SystemProcess.identifier,
        began: Int64(Date().timeIntervalSince1970 * 1_000))
      #expect(try await RunStore.sqlite(file).runs().map(\.state) == [.ready])
    }
  }

  // MARK: The former version

  @Test func `J10: a journal of version 1 is taken over when none of its processes lives`()
    async throws
  {
    try await withTemporaryFile { file in
      try FormerJournal.make(file, program: "gone", process: 1)
      let folder = file + "-owners"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      do {
        let lock = try FileLock.acquire(folder + "/7", creating: true)
        defer { withExtendedLifetime(lock) {} }
        let error = await #expect(throws: RunStoreError.self) {
          try await RunStore.sqlite(file).runs()
        }
        #expect(error?.reason == .busy)
        #expect(
          error?.description.hasPrefix("process 1 (gone) uses \(file) in an earlier version")
            == true)
      }
      let store = RunStore.sqlite(file)
      #expect(try await store.runs().map(\.state) == [.ready])
      #expect(!FileManager.default.fileExists(atPath: folder))
      #expect(try await DurableOperation(Sum(count: 2), named: "r", in: store).run().get() == 3)
      #expect(try await store.check() == [])
    }
  }

  @Test func `J10: a process that uses a journal of version 1 by another path is seen, too`()
    async throws
  {
    try await withTemporaryFile { file in
      // A process whose lock is nowhere.
      let process = try TestProgram("/bin/sleep", ["3600"]).start()
      let now = Int64(Date().timeIntervalSince1970 * 1_000)
      try FormerJournal.make(
        file, program: "sleep", process: process.processIdentifier, began: now)
      let error = await #expect(throws: RunStoreError.self) {
        try await RunStore.sqlite(file).runs()
      }
      kill(process.processIdentifier, SIGKILL)
      _ = await process.end()
      #expect(error?.reason == .busy)
    }
  }
}

/// A journal as version 1 has written it, with the run `r` of ``Sum``, which the owner 7 runs.
private enum FormerJournal {
  static func make(
    _ file: String, program: String, process: Int32, began: Int64 = 0
  ) throws {
    try SQLiteFiles.execute(
      file,
      """
      CREATE TABLE run (
        id TEXT PRIMARY KEY, flow TEXT NOT NULL, sequence TEXT NOT NULL, initial TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state = 'ready' OR state = 'running' OR state = 'parked'
          OR state = 'stuck' OR state = 'result' OR state = 'error' OR state = 'cancelled'),
        fence INTEGER NOT NULL DEFAULT 0, owner INTEGER, claims INTEGER NOT NULL DEFAULT 0,
        wake INTEGER, event TEXT, cancelled INTEGER, reason TEXT, outcome TEXT,
        parent TEXT REFERENCES run ON DELETE CASCADE,
        began INTEGER NOT NULL, updated INTEGER NOT NULL, ended INTEGER
      ) STRICT, WITHOUT ROWID
      """,
      "CREATE INDEX run_due ON run(wake, flow) WHERE state IN ('ready', 'parked')",
      "CREATE INDEX run_owner ON run(owner) WHERE state = 'running'",
      "CREATE INDEX run_ended ON run(ended) WHERE ended IS NOT NULL",
      "CREATE INDEX run_began ON run(began, id)",
      "CREATE INDEX run_parent ON run(parent) WHERE parent IS NOT NULL",
      """
      CREATE TABLE step (
        run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, position INTEGER NOT NULL,
        key TEXT NOT NULL, name TEXT NOT NULL, types TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind = 'result' OR kind = 'error' OR kind = 'cancelled'
          OR kind = 'attempts' OR kind = 'wake'),
        value TEXT, sequence TEXT, attempts INTEGER NOT NULL, fence INTEGER NOT NULL,
        began INTEGER NOT NULL, ended INTEGER NOT NULL,
        PRIMARY KEY (run, position, key)
      ) STRICT, WITHOUT ROWID
      """,
      """
      CREATE TABLE event (
        run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, name TEXT NOT NULL,
        payload TEXT NOT NULL, sent INTEGER NOT NULL, PRIMARY KEY (run, name)
      ) STRICT, WITHOUT ROWID
      """,
      """
      CREATE TABLE owner (
        number INTEGER PRIMARY KEY AUTOINCREMENT, program TEXT NOT NULL, pid INTEGER NOT NULL,
        began INTEGER NOT NULL
      ) STRICT
      """,
      "INSERT INTO owner VALUES (7, '\(program)', \(process), \(began))",
      """
      INSERT INTO run (id, flow, sequence, initial, state, fence, owner, claims, began, updated)
      VALUES ('r', 'Sum', '{"count":2,"sum":0}', '{"count":2,"sum":0}', 'running', 1, 7, 1, 0, 0)
      """,
      "PRAGMA application_id = \(0x434F_464C)", "PRAGMA user_version = 1")
  }
}

/// As the program that is killed has it.
private struct EndlessFlow: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? { nil }
}
