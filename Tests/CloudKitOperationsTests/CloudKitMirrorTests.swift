import CloudKitOperations
import CompositeOperations
import FakeCloudKit
import Foundation
import RecordOperations
import TestSupport
import Testing

/// Two replicas and CloudKit, with random edits, rounds and faults.
///
/// Each replica edits fields and deletes records of its own, so that there are no conflicts and the
/// state at the end is known.
@Suite struct CloudKitMirrorTests {
  private static let seedCount: UInt64 =
    ProcessInfo.processInfo.environment["COMPOSITE_TEST_DEPTH"] == "full" ? 24 : 6

  @Test(.timeLimit(.minutes(10)), arguments: CloudKitFixture.hasKeys ? [true, false] : [true])
  func `a mirror of CloudKit with faults ends equal, and loses no edit`(isPrivate: Bool)
    async throws
  {
    let first = UInt64.random(in: 0..<UInt64.max / 2)
    for seed in first..<first + Self.seedCount {
      let program = try await MirrorProgram(seed: seed, isPrivate: isPrivate)
      if let problem = try await program.run() {
        Issue.record("seed \(seed), \(isPrivate ? "private" : "public"): \(problem)")
        return
      }
    }
  }
}

private final class MirrorProgram {
  private typealias Contents = [String: [String: FieldValue]]

  private let folder: TemporaryFolder
  private let fixture: CloudKitFixture
  private let mirrors: [RecordMirror]
  private let replicas: [SQLiteRecordDatabase]
  private var random: OperationRandomness
  private var expected: Contents = [:]

  init(seed: UInt64, isPrivate: Bool) async throws {
    random = OperationRandomness.seeded(seed)
    folder = try TemporaryFolder()
    let limits = RecordLimits(items: 3, page: 3)
    fixture =
      isPrivate
      ? try await .private(types: ["Book"], limits: limits)
      : try .public(options: CloudKitOptions(limits: limits))
    let database = fixture.database
    replicas = [folder["0.sqlite"], folder["1.sqlite"]].map { SQLiteRecordDatabase($0.path) }
    mirrors = replicas.map {
      RecordMirror(
        of: ["Book"], in: $0, with: database, retries: RetryPolicy(attempts: 2, backoff: .none))
    }
    let faults = Lock(OperationRandomness.seeded(seed &+ 1))
    fixture.server.inject { _ in
      faults.withLock { random in
        switch Int.random(in: 0..<12, using: &random) {
        case 0: .throttled(retryAfter: nil)
        case 1: .unavailable(retryAfter: nil)
        case 2: .losingRequest
        case 3: .losingReply
        case 4: .status(502, body: "<html>")
        case 5: .failing(record: "\(Int.random(in: 0..<4, using: &random))", code: "THROTTLED")
        case 6: .cuttingReply
        default: nil
        }
      }
    }
  }

  /// - Returns: The difference from the expected state, or nil.
  func run() async throws -> String? {
    for _ in 0..<24 {
      let number = Int.random(in: 0..<2, using: &random)
      if Bool.random(using: &random) {
        try await edit(number)
      } else {
        _ = await mirrors[number].sync.run()
      }
    }
    fixture.server.inject { _ in nil }
    for _ in 0..<3 {
      for mirror in mirrors { _ = try await mirror.sync.run().get() }
    }
    for database in replicas {
      let found = try await contents(of: database)
      if found != expected { return "a replica has \(found), expected \(expected)" }
    }
    let stored = try await contents(of: fixture.database)
    return stored == expected ? nil : "CloudKit has \(stored), expected \(expected)"
  }

  private func contents(of database: any RecordDatabase) async throws -> Contents {
    let records = try await QueryRecords("Book", in: database).run().get()
    return Dictionary(
      uniqueKeysWithValues: records.map { record in
        let keys = record.keys.filter { record[$0] != .null }
        return (
          record.id.name, Dictionary(uniqueKeysWithValues: keys.map { ($0, record[$0]) })
        )
      })
  }

  private func edit(_ number: Int) async throws {
    let database = replicas[number]
    let value = FieldValue.integer(Int64.random(in: 0..<1_000_000, using: &random))
    // Names that both replicas use, and names of this one.
    let isShared = Bool.random(using: &random)
    let name = isShared ? "\(Int.random(in: 0..<4, using: &random))" : "only\(number)"
    if !isShared, expected[name] != nil, Bool.random(using: &random) {
      _ = try await DeleteRecords([RecordID("Book", name)], in: database).run().get()
      expected[name] = nil
      return
    }
    let key = "f\(number)"
    _ = try await SaveRecords([book(name, [key: value])], in: database, policy: .changedKeys)
      .run().get()
    expected[name, default: [:]][key] = value
  }
}
