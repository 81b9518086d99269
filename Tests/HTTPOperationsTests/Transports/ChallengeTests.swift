import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

/// Responses that request authentication.
@Suite struct ChallengeTests {
  @Test(
    .timeLimit(.minutes(10)), arguments: Transfer.allCases,
    ["Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"1\"", "Bearer"])
  func `N1: a 401 is an error with headers and body, whatever its authentication scheme`(
    transfer: Transfer, challenge: String
  ) async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(
      .init(401, headers: ["WWW-Authenticate: \(challenge)"], "who are you?"))
    let operation = transfer.operation(on: server.url(), in: folder)
    let error = try #require(await operation.run().error as? HTTPStatusError)
    #expect(error.status == 401)
    #expect(error.headers["WWW-Authenticate"] == challenge)
    #expect(String(decoding: error.body, as: UTF8.self) == "who are you?")
    #expect(server.requests.count == 1)
    #expect(try folder.names() == [])
  }

  @Test(.timeLimit(.minutes(10)))
  func `a 401 without a body is an error`() async throws {
    let server = try LoopbackServer(.init(401, headers: [#"WWW-Authenticate: Basic realm="x""#]))
    let outcome = await HTTPDataOperation(server.url()).run()
    #expect((outcome.error as? HTTPStatusError)?.status == 401)
  }
}
