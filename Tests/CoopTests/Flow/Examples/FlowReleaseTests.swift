import Foundation
import TestSupport
import Testing

/// The example `release.yaml` of the article "Flow files".
@Suite(.needsYAML, .timeLimit(.minutes(10))) struct FlowReleaseTests {
  /// `curl` fails as often as the file `failures` has lines.
  private static let programs = [
    "swift": """
    case $1 in
      build) mkdir -p .build/release; cat Sources/main.swift > .build/release/coop ;;
    esac
    """,
    "make": "mkdir -p site; cat README.md > site/index.html",
    "curl": """
    if test -s failures; then
      tail -n +2 failures > rest
      mv rest failures
      echo 'curl: (22) The requested URL returned error: 503' >&2
      exit 22
    fi
    cp "$3" uploaded
    """,
  ]

  private func fixture() throws -> FlowExampleFixture {
    let flow = try FlowExampleFixture(
      "release", programs: Self.programs, changes: ["backoff: 5s": "backoff: 5ms"])
    for name in ["Package.swift", "Sources/main.swift", "README.md", "dist/old.txt"] {
      try flow.folder.write("\(name) 1", to: name)
    }
    return flow
  }

  private static let upload = "curl --fail -T dist/coop-1.4.0.tar.gz https://files.example.org/"

  @Test func `release.yaml runs in order, and repeats an upload that fails twice`() async throws {
    let flow = try fixture()
    try flow.folder.write("1\n2\n", to: "failures")
    let printed = try await flow.run("--set", "version=1.4.0")
    #expect(printed.status == 0, "\(printed.error)")
    #expect(
      Set(printed.ends) == [
        "build: succeeded", "test: succeeded", "lint: succeeded", "docs: succeeded",
        "pack: succeeded", "upload: succeeded",
      ])
    #expect(printed.text.contains("upload: succeeded (3 attempts, "))
    #expect(printed.ends.suffix(1) == ["upload: succeeded"])
    // Nothing orders `lint` and `docs`.
    let calls = try flow.takeCalls()
    #expect(
      calls.filter { $0 != "make docs" && $0 != "swift format lint --recursive Sources" }
        == ["swift build -c release", "swift test", Self.upload, Self.upload, Self.upload])
    #expect(calls.count == 7)
    let archive = try #require(Program.installed("tar", "-xzOf", "uploaded", "coop"))
    var extraction = archive
    extraction.folder = flow.folder.url
    #expect(try await extraction.run().text == "Sources/main.swift 1")
  }

  @Test func `release.yaml runs only what has no outputs or is out of date`() async throws {
    let flow = try fixture()
    #expect(try await flow.run("--set", "version=1.4.0").status == 0)
    _ = try flow.takeCalls()
    let second = try await flow.run("--set", "version=1.4.0")
    #expect(second.status == 0, "\(second.error)")
    // The archive is made again: the tests, which have no outputs, have run.
    #expect(
      Set(second.ends) == [
        "test: succeeded", "lint: succeeded", "pack: succeeded", "upload: succeeded",
      ])
    #expect(second.error.contains("'release': 4 succeeded, 2 up to date ("), "\(second.error)")
    #expect(
      Set(try flow.takeCalls()) == [
        "swift test", "swift format lint --recursive Sources", Self.upload,
      ])
    try flow.folder.write("Sources/main.swift 22", to: "Sources/main.swift")
    let plan = try await flow.run("--set", "version=1.4.0", "--dry-run")
    #expect(plan.text.hasPrefix("build: Sources/main.swift is newer\n"), "\(plan.text)")
    #expect(plan.text.contains("\npack: it needs 'test', which runs\n"), "\(plan.text)")
    let third = try await flow.run("--set", "version=1.4.0")
    #expect(third.ends.contains("build: succeeded") && third.ends.contains("pack: succeeded"))
    #expect(!third.ends.contains { $0.hasPrefix("docs: ") })
    // Another version is another archive.
    let other = try await flow.run()
    #expect(other.ends.contains("pack: succeeded"), "\(other.text)")
    #expect(try flow.takeCalls().last?.contains("-T dist/coop-dev.tar.gz ") == true)
  }

  @Test func `release.yaml repeats only the upload after five failed attempts`() async throws {
    let flow = try fixture()
    try flow.folder.write("1\n2\n3\n4\n5\n", to: "failures")
    let failed = try await flow.run("--set", "version=1.4.0")
    #expect(failed.status == 1)
    #expect(
      failed.error.contains("step 'upload' failed: exit status 22 after 5 attempts ("),
      "\(failed.error)")
    #expect(
      failed.error.contains(
        "); its last lines:\n  curl: (22) The requested URL returned error: 503\n"))
    #expect(try flow.takeCalls().count { $0 == Self.upload } == 5)
    let resumed = try await flow.run("--set", "version=1.4.0")
    #expect(resumed.status == 0, "\(resumed.error)")
    #expect(resumed.error.contains("resuming run 1 of 'release', failed at "))
    #expect(resumed.error.contains(": 5 of 6 steps are done\n"))
    #expect(resumed.ends == ["upload: succeeded"])
    #expect(try flow.takeCalls() == [Self.upload])
  }
}
