import CompositeOperations
import Foundation
import HTTPOperations
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The page of a journal, which `coop journal STORE serve` shows.
struct PageFixture: Sendable {
  /// Whether the built program has a server: the header was there when the package was built.
  static let isPossible = ["/usr/include", "/usr/local/include", "/opt/homebrew/include"].contains {
    FileManager.default.fileExists(atPath: "\($0)/microhttpd.h")
  }

  /// An answer of the server.
  struct Answer {
    let status: Int
    let headers: HTTPHeaders
    let text: String

    init(_ head: HTTPResponseHead, _ body: Data) {
      (status, headers) = (head.status, head.headers)
      text = String(decoding: body, as: UTF8.self)
    }

    var json: [String: Any] {
      get throws {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
      }
    }
  }

  /// The address of the page, with a slash at its end.
  let url: URL
  /// The line that the program has printed.
  let line: String
  /// The identifier of the process that serves it.
  let process: Int32

  /// Serves the page of a journal while a closure runs, and ends it with Ctrl-C.
  static func serving(
    _ journal: JournalFixture, _ options: String..., during body: (PageFixture) async throws -> Void
  ) async throws -> ProgramResult {
    try await serving(journal.path, in: journal.folder, options, during: body)
  }

  /// Serves the page of a store.
  ///
  /// - Parameters:
  ///   - folder: Where the output of the program is.
  ///   - reachable: A folder for the program, which runs as another user than root then; nil for the
  ///     same user. If that is impossible, the body is not called.
  ///   - user: The number of that user.
  static func serving(
    _ store: String, in folder: TemporaryFolder, _ options: [String],
    withoutPrivilegesIn reachable: TemporaryFolder? = nil, as user: Int = 1,
    during body: (PageFixture) async throws -> Void
  ) async throws -> ProgramResult {
    let output = folder.url.appendingPathComponent("serve-output-\(UUID().uuidString)")
    var program = Program.coop()
    program.arguments = ["journal", store, "serve", "--address", "127.0.0.1:0"] + options
    program.environment = ["TZ": "UTC"]
    if let reachable {
      guard let other = try await program.withoutPrivileges(copiedTo: reachable, as: user) else {
        return ProgramResult(status: 130, output: Data(), error: "")
      }
      program = other
    }
    program.output = output
    return try await program.run { process in
      @Sendable func firstLine() -> String? {
        let text = try? String(contentsOf: output, encoding: .utf8)
        return text.flatMap { $0.hasSuffix("\n") ? $0 : nil }
      }
      try await eventually { firstLine() != nil || hasEnded(process) }
      let line = firstLine() ?? ""
      if let url = URL(string: String(line.prefix { $0 != " " && $0 != "," })), url.scheme == "http"
      {
        try await body(PageFixture(url: url, line: line, process: process))
      } else {
        Issue.record("the server has not started: \(line)")
      }
      kill(process, SIGINT)
    }
  }

  /// Writes a file with a token, which only its owner may use.
  static func writeToken(_ text: String, to path: String, permissions: Int = 0o600) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
  }

  func url(_ path: String) -> URL {
    guard let url = URL(string: path, relativeTo: url) else {
      preconditionFailure("invalid path: \(path)")
    }
    return url.absoluteURL
  }

  /// Requests a page, or an object with `asJSON`.
  func get(
    _ path: String, asJSON: Bool = false, headers: [String: String] = [:]
  ) async throws -> Answer {
    var request = URLRequest(url: url(path))
    if asJSON { request.setValue("application/json", forHTTPHeaderField: "Accept") }
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    return try await answer(to: request)
  }

  /// Sends a form as the page does, with the secret of a page.
  func post(
    _ path: String, _ fields: [String: String], secret: String?, origin: String? = nil,
    asJSON: Bool = true, headers: [String: String] = [:]
  ) async throws -> Answer {
    var request = URLRequest(url: url(path))
    request.httpMethod = "POST"
    let type = asJSON ? "application/json" : "text/html"
    request.setValue(type, forHTTPHeaderField: "Accept")
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    let own = url.absoluteString.dropLast()
    request.setValue(origin ?? String(own), forHTTPHeaderField: "Origin")
    var form = URLComponents()
    form.queryItems = (fields.merging(secret.map { ["form-secret": $0] } ?? [:]) { $1 }).map {
      URLQueryItem(name: $0, value: $1)
    }
    request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
    request.httpBody = Data((form.percentEncodedQuery ?? "").utf8)
    return try await answer(to: request)
  }

  private func answer(to request: URLRequest) async throws -> Answer {
    let options = HTTPRequestOptions(errorBodyLimit: 64 << 20)
    do {
      let response = try await HTTPDataOperation(request, options: options).run().get()
      return Answer(response.head, response.body)
    } catch let error as HTTPStatusError { return Answer(error.head, error.body) }
  }

  /// The secret of the forms of a page.
  func secret(_ path: String) async throws -> String {
    let page = try await get(path).text
    let match = try #require(page.firstMatch(of: /name="form-secret" value="([^"]+)"/))
    return String(match.1)
  }
}
