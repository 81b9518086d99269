import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import Testing

@Suite(.timeLimit(.minutes(10))) struct HTTPErrorTextTests {
  @Test func `localizedDescription of a request equals the description of the error`() async throws
  {
    let server = try LoopbackServer(.init(404, "no such page"))
    let error = try #require(await HTTPDataOperation(server.url()).run().error)
    #expect(error.localizedDescription == "\(error)")
  }
}
