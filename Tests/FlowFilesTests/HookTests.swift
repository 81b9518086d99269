import CompositeOperations
import FlowFiles
import Foundation
import TestSupport
import Testing

@Suite(.needsYAML)
struct HookTests {
  @Test func `L20: a command of on has a timeout, and the next one runs`() async throws {
    let folder = try TemporaryFolder()
    let path = folder["f.yaml"].path
    let file = try FlowFile(
      parsing: Array(
        "flow: f\non: {success: sleep 20, always: sleep 20}\nsteps: {a: {run: x}}"
          .utf8), path: path)
    let messages = Messages()
    await FlowHooks(
      file, in: FlowFolder(ofFile: path, flow: "f"), mark: "f", run: 1,
      timeout: .milliseconds(50)
    ).perform(.succeeded, []) { messages.add($0) }
    #expect(
      messages.all == [
        "'success' of on failed: timeout of 50 ms",
        "'always' of on failed: timeout of 50 ms",
      ])
  }

  @Test func `L20: a command of on runs without its log if the log cannot be written`() async throws
  {
    let folder = try TemporaryFolder()
    let path = folder["f.yaml"].path
    let file = try FlowFile(
      parsing: Array("flow: f\non: {failure: touch ran}\nsteps: {a: {run: x}}".utf8), path: path)
    let messages = Messages()
    await FlowHooks(
      file, in: FlowFolder(ofFile: path, flow: "f"), mark: "f", run: 1
    ).perform(.failed, []) { messages.add($0) }
    #expect(messages.all == [])
    #expect(FileManager.default.fileExists(atPath: folder["ran"].path))
  }

  private final class Messages: Sendable {
    private let messages = Lock<[String]>([])
    var all: [String] { messages.withLock { $0 } }
    func add(_ message: String) { messages.withLock { $0.append(message) } }
  }
}
