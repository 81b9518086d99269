import Foundation
import TestSupport
import Testing

/// The example `transcribe.yaml` of the article "Flow files".
@Suite(.needsYAML, .timeLimit(.minutes(10))) struct FlowTranscribeTests {
  private static let programs = [
    // As the real one, it does not create folders.
    "ffmpeg": """
    if grep -q broken "$3"; then
      echo "$3: Invalid data found when processing input" >&2
      exit 1
    fi
    cat "$3" > "$4"
    """,
    // The graphics card is a folder, which two processes cannot create.
    "whisper-cli": """
    mkdir gpu
    test -e "$2"
    cat "$4" > "$6.txt"
    rmdir gpu
    """,
  ]

  private static let good = ["recordings/1.m4a", "recordings/deep/2.m4a", "recordings/deep/3 .m4a"]
  private static let broken = "recordings/broken.m4a"

  private func fixture() throws -> FlowExampleFixture {
    let flow = try FlowExampleFixture("transcribe", programs: Self.programs)
    for name in Self.good { try flow.folder.write("sound of \(name)", to: name) }
    try flow.folder.write("broken", to: Self.broken)
    try flow.folder.write("", to: "models/base.bin")
    for folder in ["work", "text"] { try flow.folder.write("", to: "\(folder)/recordings/deep/x") }
    return flow
  }

  private static func decoding(_ name: String) -> String { "ffmpeg -y -i \(name) work/\(name).wav" }

  private static func transcribing(_ name: String) -> String {
    "whisper-cli -m models/base.bin -f work/\(name).wav -of text/\(name)"
  }

  @Test func `transcribe.yaml transcribes all but the broken recordings, and then reports`()
    async throws
  {
    let flow = try fixture()
    let first = try await flow.run("--keep-going")
    #expect(first.status == 1)
    #expect(first.ends.contains("decode[\(Self.broken)]: failed, exit status 1"))
    #expect(first.ends.contains("decode: failed, 1 of 4 children failed"))
    #expect(
      first.ends.contains(
        "transcribe[\(Self.broken)]: skipped, it needs 'decode[\(Self.broken)]'"))
    #expect(first.ends.last == "report: succeeded")
    #expect(
      first.error.contains("  \(Self.broken): Invalid data found when processing input\n"))
    #expect(flow.lines("report.txt") == ["3"])
    // `retries: 1` repeats the broken one.
    #expect(
      try flow.takeCalls().sorted()
        == (Self.good.map(Self.decoding) + Self.good.map(Self.transcribing)
        + [Self.decoding(Self.broken), Self.decoding(Self.broken)]).sorted())

    // The recording is still broken: nothing else runs again.
    let second = try await flow.run("--keep-going")
    #expect(second.status == 1)
    #expect(second.error.contains("resuming run 1 of 'transcribe', failed at "))
    #expect(try flow.takeCalls() == [Self.decoding(Self.broken), Self.decoding(Self.broken)])

    try flow.folder.write("sound", to: Self.broken)
    let third = try await flow.run()
    #expect(third.status == 0, "\(third.error)")
    #expect(try flow.takeCalls() == [Self.decoding(Self.broken), Self.transcribing(Self.broken)])
    #expect(flow.lines("report.txt") == ["4"])
    for name in Self.good { #expect(flow.lines("text/\(name).txt") == ["sound of \(name)"]) }
  }

  @Test func `transcribe.yaml reports also if a failure cancels the transcriptions`() async throws {
    let flow = try fixture()
    let first = try await flow.run()
    #expect(first.status == 1)
    #expect(first.ends.last == "report: succeeded")
    // A failed child does not stop the other children of its step.
    let calls = try flow.takeCalls()
    #expect(calls.count { $0.hasPrefix("ffmpeg ") } == 5)
    try flow.folder.write("sound", to: Self.broken)
    // A transcription may have been cancelled while it had the card.
    try? FileManager.default.removeItem(atPath: flow.folder.path + "/gpu")
    let second = try await flow.run()
    #expect(second.status == 0, "\(second.error)")
    #expect(
      try flow.takeCalls().filter { $0.hasPrefix("ffmpeg ") } == [Self.decoding(Self.broken)])
    #expect(flow.lines("report.txt") == ["4"])
  }

  @Test func `transcribe.yaml transcribes only new recordings in a second run`() async throws {
    let flow = try fixture()
    try flow.folder.write("sound", to: Self.broken)
    #expect(try await flow.run().status == 0)
    _ = try flow.takeCalls()
    let second = try await flow.run()
    #expect(second.ends == ["report: succeeded"], "\(second.text)")
    #expect(try flow.takeCalls() == [])
    try flow.folder.write("new", to: "recordings/new.m4a")
    let plan = try await flow.run("--dry-run")
    #expect(plan.text.hasPrefix("decode: decode[recordings/new.m4a]: it has not succeeded yet\n"))
    #expect(try await flow.run().status == 0)
    #expect(
      try flow.takeCalls() == [
        Self.decoding("recordings/new.m4a"), Self.transcribing("recordings/new.m4a"),
      ])
    #expect(flow.lines("report.txt") == ["5"])
    // All transcriptions depend on the model.
    try flow.folder.write("larger", to: "models/base.bin")
    #expect(try await flow.run().status == 0)
    let calls = try flow.takeCalls()
    #expect(calls.count == 5 && calls.allSatisfy { $0.hasPrefix("whisper-cli ") }, "\(calls)")
  }
}
