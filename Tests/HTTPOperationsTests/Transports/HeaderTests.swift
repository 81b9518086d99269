import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Texts that cannot be sent, in every place that accepts a text.
@Suite(.timeLimit(.minutes(10))) struct HeaderTests {
  enum Place: CaseIterable, Sendable {
    case value, overridden, dictionary, name, session, sessionName, contentType, method
  }

  @Test(
    arguments: Place.allCases, ["token\n", "to\r\nX-Evil: 1", "to\rken", "\ntoken", "to\0ken"])
  func `N7: a line break in a request is an error that names its place`(
    place: Place, text: String
  ) async throws {
    let server = try LoopbackServer(.init())
    var request = URLRequest(url: server.url())
    request.httpMethod = "PUT"
    var configuration = HTTPConfiguration()
    var source = HTTPUploadSource.data(Data("x".utf8))
    var name = "Authorization"
    switch place {
    case .value: request.setValue(text, forHTTPHeaderField: name)
    case .overridden:
      request.setValue("old", forHTTPHeaderField: name)
      request.setValue(text, forHTTPHeaderField: "authorization")
    case .dictionary: request.allHTTPHeaderFields = [name: text]
    case .name:
      name = text
      request.setValue("x", forHTTPHeaderField: name)
    case .session: configuration.headers = ["Authorization": text]
    case .sessionName:
      name = text
      configuration.headers = HTTPHeaders([.init(name: text, value: "x")])
    case .contentType:
      name = "Content-Type"
      source = .stream(contentType: text) { AsyncStream { $0.finish() } }
    case .method: request.httpMethod = text
    }
    let outcome = await HTTPUploadOperation(
      request, from: source, session: HTTPSession(configuration)
    ).run()
    let error = try #require(outcome.error as? HTTPTransferError, "\(outcome)")
    guard case .badRequest(let problem) = error.reason else { throw error }
    let named = place == .method ? "method" : name.debugDescription
    #expect(problem.lowercased().contains(named.lowercased()), "\(problem)")
    #expect(!error.wasSent && !error.isRetryable && server.requests.isEmpty)
  }

  @Test func `setting a header replaces the old one in any case`() async throws {
    let server = try LoopbackServer(.init())
    var request = URLRequest(url: server.url())
    request.setValue("old", forHTTPHeaderField: "X-A")
    request.setValue("new", forHTTPHeaderField: "x-a")
    _ = try await HTTPDataOperation(request).run().get()
    #expect(server.requests[0]["X-A"] == "new")
  }
}
