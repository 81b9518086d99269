import Foundation
import Testing

@Suite(.enabled(if: PrivateServer.missingServer == nil), .timeLimit(.minutes(10)))
struct PrivateServerTests {
  @Test func `a server ends when its object is released, even if it is paused`() async throws {
    var server: PrivateServer? = PrivateServer()
    let folder = server?.folder ?? ""
    try await server?.start()
    #expect(FileManager.default.fileExists(atPath: folder))
    try await server?.pause()
    server = nil
    // The queue of the server may release it later.
    try await waitUntilRemoved(folder)
  }

  @Test func `a server ends when its process is killed`() async throws {
    let result = await #expect(
      processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]
    ) {
      let server = PrivateServer()
      try await server.start()
      FileHandle.standardOutput.write(Data("folder \(server.folder) end\n".utf8))
      kill(getpid(), SIGKILL)
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    let folder = output.matches(of: /folder (\S+) end/).first.map { String($0.1) } ?? ""
    try #require(folder.hasPrefix("/tmp/pg-"))
    try await waitUntilRemoved(folder)
  }

  private func waitUntilRemoved(_ folder: String) async throws {
    let deadline = ContinuousClock.now + .seconds(30)
    while FileManager.default.fileExists(atPath: folder) {
      try #require(ContinuousClock.now < deadline, "the server continues")
      try await Task.sleep(for: .milliseconds(20))
    }
  }
}
