import Foundation
import TestSupport
import Testing

/// The example `nightly.yaml` of the article "Flow files".
@Suite(.needsYAML, .timeLimit(.minutes(10))) struct FlowNightlyTests {
  private static let programs = [
    "psql": "cat databases",
    // It fails for the databases that the file `locked` names.
    "pg_dump": """
    if grep -qxF -e "$2" locked; then
      echo "pg_dump: error: $2 is locked" >&2
      exit 1
    fi
    echo "contents of $2"
    """,
    "date": "cat weekday",
    "srun": #"shift; exec "$@""#,
    "rclone": "exit $(cat rclone-status)",
    "./restore-test": #"ls "$1" > restored"#,
    "./notify": "",
  ]

  private static let databases = ["app", "$(touch bad)", "two words; touch bad"]

  /// - Parameter weekday: The day as `date +%u` prints it: 1 for Monday to 7 for Sunday.
  private func fixture(weekday: Int = 3) throws -> FlowExampleFixture {
    let flow = try FlowExampleFixture(
      "nightly", programs: Self.programs,
      changes: ["/backup": "FOLDER/backup", "backoff: 30s": "backoff: 5ms"])
    try flow.folder.write(Self.databases.map { "\($0)\n" }.joined(), to: "databases")
    try flow.folder.write("", to: "locked")
    try flow.folder.write("\(weekday)\n", to: "weekday")
    try flow.folder.write("9\n", to: "rclone-status")
    try FileManager.default.createDirectory(
      atPath: flow.folder.path + "/backup", withIntermediateDirectories: true)
    return flow
  }

  /// Runs the example as cron would, with a journal in another folder, which does not exist yet.
  private func run(_ flow: FlowExampleFixture) async throws -> ProgramResult {
    try await flow.run("--state", "var/lib/backup/flow")
  }

  private static func dumping(_ database: String) -> String { "pg_dump -Fc \(database)" }

  /// The calls after the dumps, in the order of the file.
  private static func last(_ flow: FlowExampleFixture) -> [String] {
    let backup = flow.folder.path + "/backup"
    return [
      "srun -n1 ./restore-test \(backup)", "./restore-test \(backup)",
      "rclone sync \(backup) remote:backup", "./notify nightly",
    ]
  }

  @Test(arguments: [3, 7])
  func `nightly.yaml dumps each database, and tests the backup on Sundays`(
    weekday: Int
  ) async throws {
    let flow = try fixture(weekday: weekday)
    let printed = try await run(flow)
    #expect(printed.status == 0, "\(printed.error)")
    let isTested = weekday == 7
    #expect(
      printed.ends.contains(
        isTested ? "restore-test: succeeded" : "restore-test: skipped, only-if is not met"))
    // The status 9 of rclone is accepted.
    #expect(printed.ends.contains("ship: succeeded"))
    #expect(printed.ends.last == "notify: succeeded")
    let calls = try flow.takeCalls().filter { $0 != "date +%u" }
    #expect(
      calls.first == "psql -Atc select datname from pg_database where not datistemplate")
    #expect(calls.dropFirst().prefix(3).sorted() == Self.databases.map(Self.dumping).sorted())
    let last = Self.last(flow)
    #expect(calls.dropFirst(4).sorted() == (isTested ? last : Array(last.suffix(2))).sorted())
    #expect(calls.last == "./notify nightly")
    for name in Self.databases {
      #expect(flow.lines("backup/\(name).dump") == ["contents of \(name)"])
    }
    #expect(flow.lines("restored").count == (isTested ? 3 : 0))
    let names = try FileManager.default.contentsOfDirectory(atPath: flow.folder.path)
    #expect(!names.contains("bad") && names.contains("var"))
  }

  @Test func `nightly.yaml dumps each database again in the next night`() async throws {
    let flow = try fixture()
    #expect(try await run(flow).status == 0)
    _ = try flow.takeCalls()
    try flow.folder.write("app\nnew\n", to: "databases")
    let second = try await run(flow)
    #expect(second.status == 0, "\(second.error)")
    #expect(!second.error.contains("resuming"))
    let dumps = try flow.takeCalls().filter { $0.hasPrefix("pg_dump ") }
    #expect(dumps.sorted() == [Self.dumping("app"), Self.dumping("new")])
  }

  @Test func `nightly.yaml notifies after a failed dump, and repeats only that dump`() async throws
  {
    let flow = try fixture()
    try flow.folder.write("app\n", to: "locked")
    let failed = try await run(flow)
    #expect(failed.status == 1)
    #expect(failed.ends.contains("dump: failed, 1 of 3 children failed"))
    #expect(failed.ends.last == "notify: succeeded")
    #expect(
      failed.error.contains("step 'dump[app]' failed: exit status 1 after 3 attempts ("),
      "\(failed.error)")
    #expect(failed.error.contains("\n  pg_dump: error: app is locked\n"))
    let calls = try flow.takeCalls()
    #expect(calls.count { $0 == Self.dumping("app") } == 3)
    #expect(!calls.contains { $0.hasPrefix("rclone ") || $0.hasPrefix("srun ") })
    try flow.folder.write("", to: "locked")
    let resumed = try await run(flow)
    #expect(resumed.status == 0, "\(resumed.error)")
    #expect(resumed.error.contains("resuming run 1 of 'nightly', failed at "))
    let again = try flow.takeCalls().filter { $0 != "date +%u" }
    #expect(again == [Self.dumping("app")] + Self.last(flow).suffix(2))
    #expect(flow.lines("backup/app.dump") == ["contents of app"])
  }

  @Test func `nightly.yaml fails if the copy ends with another status, and notifies`() async throws
  {
    let flow = try fixture(weekday: 7)
    try flow.folder.write("5\n", to: "rclone-status")
    let printed = try await run(flow)
    #expect(printed.status == 1)
    #expect(
      printed.error.contains("step 'ship' failed: exit status 5 after 3 attempts ("),
      "\(printed.error)")
    #expect(printed.ends.last == "notify: succeeded")
  }
}
