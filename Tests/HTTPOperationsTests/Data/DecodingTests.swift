import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct DecodingTests {
  struct Repository: Codable, Equatable {
    struct Owner: Codable, Equatable { let login: String }
    let name: String
    let owner: Owner
  }

  @Test func `a body is decoded`() async throws {
    let server = try LoopbackServer(.init(#"[{"name":"a","owner":{"login":"o"}}]"#))
    let repositories = try await HTTPDataOperation(server.url())
      .decoding([Repository].self).run().get()
    #expect(repositories == [Repository(name: "a", owner: .init(login: "o"))])
  }

  @Test func `a custom decoder is used`() async throws {
    struct Thing: Decodable { let madeAt: Date }
    let server = try LoopbackServer(.init(#"{"made_at":60}"#))
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    decoder.dateDecodingStrategy = .secondsSince1970
    let thing = try await HTTPDataOperation(server.url())
      .decoding(Thing.self, with: decoder).run().get()
    #expect(thing.madeAt == Date(timeIntervalSince1970: 60))
  }

  @Test(arguments: [
    (#"[{"name":"a","owner":{"login":7}}]"#, "[0].owner.login is not of type String"),
    (#"[{"name":"a","owner":{"login":null}}]"#, "[0].owner.login is null"),
    (#"[{"name":"a","owner":{}}]"#, "[0].owner.login is missing"),
    (#"{"message":"no"}"#, "the body is not of type Array"),
    ("<html>", "the body is malformed"), ("", "the body is malformed"),
  ])
  func `a body of another shape is an error with the coding path and the address`(
    body: String, problem: String
  ) async throws {
    let server = try LoopbackServer(.init(body))
    let decode = HTTPDataOperation(server.url("/list?key=secret")).decoding([Repository].self)
    let error = try #require(await decode.run().error as? HTTPDecodingError)
    #expect(error.description.contains("GET \(server.url("/list"))?key=…: cannot decode"))
    #expect(error.description.contains("(status 200)"))
    #expect(error.description.contains(problem), "\(error)")
    #expect(error.description.contains("Array<Repository>"))
    #expect(error.cause is DecodingError)
    #expect(error.body == Data(body.utf8))
  }

  @Test func `encoding a value is a step of its own`() async throws {
    let server = try LoopbackServer(.init("[]"))
    let url = server.url()
    let send = SimpleOperation { ["title": "It does not work"] }.encoding().then { data in
      var request = URLRequest(url: url)
      request.httpMethod = "POST"
      request.httpBody = data
      return HTTPDataOperation(request).decoding([String].self)
    }
    #expect(try await send.run().get() == [])
    #expect(
      String(decoding: server.requests[0].body, as: UTF8.self) == #"{"title":"It does not work"}"#)
  }

  @Test func `a value that cannot be encoded is an error`() async {
    let encode = SimpleOperation { [Double.infinity] }.encoding()
    #expect(await encode.run().error is EncodingError)
  }
}
