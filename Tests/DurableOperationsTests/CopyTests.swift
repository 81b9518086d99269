import CompositeOperations
import DurableOperations
import DurableTestSupport
import Foundation
import SQLiteSupport
import SystemSupport
import Testing

@Suite(.enabled(if: TestServer.isAbsent)) struct CopyTests {
  @Test func `J26: a copy has the last changes, in one file that only its owner may use`()
    async throws
  {
    try await withTemporaryFile { file in
      let copy = file + ".copy"
      let store = RunStore.sqlite(file)
      try await store.start(Sum(count: 1), named: "r")
      #expect(FileManager.default.fileExists(atPath: file + "-wal"))
      try await store.copy(to: copy)
      let copied = RunStore.sqlite(copy)
      #expect(try await copied.summary(of: "r")?.state == .ready)
      let mode = try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions]
      #expect((mode as? NSNumber)?.intValue == 0o600)
      await copied.close()
      let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
      let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      #expect(
        names == ["flows.sqlite", "flows.sqlite-shm", "flows.sqlite-wal", "flows.sqlite.copy"])
    }
  }

  @Test func `J26: copies are whole while programs write`() async throws {
    try await withTemporaryFile { file in
      let store = RunStore.sqlite(file)
      let count = 20
      async let writes: Void = {
        for number in 0..<count {
          for part in 0..<10 {
            try await store.start(Sum(count: 1), named: RunID("r\(number)-\(part)"))
          }
        }
      }()
      for number in 0..<count {
        let before = try await store.runs().count
        let path = "\(file).\(number)"
        try await RunStore.sqlite(file).copy(to: path)
        let copy = RunStore.sqlite(path)
        #expect(try await copy.runs().count >= before)
        #expect(try await copy.check() == [])
      }
      try await writes
    }
  }

  @Test func `J26: a check says that a file was copied without its log, until a program uses it`()
    async throws
  {
    try await withTemporaryFile { file in
      let copy = file + ".copy"
      let store = RunStore.sqlite(file)
      let run = DurableOperation(Sum(count: 1), named: "r", in: store)
      #expect(try await run.run().get() == 1)
      try FileManager.default.copyItem(atPath: file, toPath: copy)
      #expect(try await store.check() == [])
      let other = RunStore.sqlite(copy)
      // The run is in the log.
      #expect(try await other.runs().isEmpty)
      #expect(
        try await other.check() == [
          """
          \(copy) is a copy of the file that programs have used, and may lack its last changes, which are in the log \
          beside that file (-wal); make copies by `coop journal STORE copy FILE`; one that was moved since is complete
          """
        ])
      #expect(try await DurableOperation(Sum(count: 1), named: "s", in: other).run().get() == 1)
      #expect(try await other.check() == [])
    }
  }

  @Test func `J26: a copy replaces no file, and a failure leaves none`() async throws {
    try await withTemporaryFile { file in
      let store = RunStore.sqlite(file)
      try await store.start(Sum(count: 1), named: "r")
      for path in [file, file + "-wal"] {
        let error = await #expect(throws: RunStoreError.self) { try await store.copy(to: path) }
        #expect(error?.description == "\(path) exists; expected the path of a new file")
      }
      let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
      let error = await #expect(throws: RunStoreError.self) {
        try await store.copy(to: "\(folder)/missing/copy")
      }
      #expect(error?.reason == .notAccessible)
      #expect(error?.description.hasPrefix("\(folder)/missing/copy: No such file") == true)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      #expect(names == ["flows.sqlite", "flows.sqlite-shm", "flows.sqlite-wal"])
      #expect(try await store.summary(of: "r") != nil)
    }
  }

  @Test func `J26: a file that another program creates during a copy is not replaced`()
    async throws
  {
    try await withTemporaryFile { file in
      let path = file + "-copy"
      let connection = try SQLiteConnection.open(
        file, for: .writing, SQLiteConfiguration(access: .create))
      try connection.execute("CREATE TABLE T (a)")
      #expect(throws: SystemError.fileExists) {
        try connection.copy(to: path) { _ in try Data("other".utf8).write(to: URL(filePath: path)) }
      }
      #expect(try Data(contentsOf: URL(filePath: path)) == Data("other".utf8))
    }
  }

  @Test func `J26: a store in memory can be copied into a file`() async throws {
    try await withTemporaryFile { file in
      let store = RunStore.memory()
      try await store.start(Sum(count: 1), named: "r")
      try await store.copy(to: file)
      #expect(try await RunStore.sqlite(file).summary(of: "r") != nil)
    }
  }
}
