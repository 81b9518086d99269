internal import CompositeOperations
internal import Foundation
internal import HTTPOperations
internal import RecordOperations

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Sends requests to a database of a container, each with its own signature or token.
struct CloudKitClient: Sendable {
  /// The address of CloudKit, without a path.
  let host: URL
  /// The path of the container and the environment, with a slash at its end.
  let path: String
  let scope: CloudKitRecordDatabase.Scope
  let credentials: CloudKitCredentials
  let session: HTTPSession
  let now: @Sendable () -> Date

  /// The largest difference between the clock of this machine and that of the server that is not
  /// the cause of a rejected signature.
  private static let clockTolerance = 300.0
  private static let errorBodyLimit = 64 << 10
  /// 200 records of 1 MB each, with their bytes in base64.
  private static let bodyLimit = 512 << 20

  /// Sends a request once.
  ///
  /// - Parameters:
  ///   - request: The body.
  ///   - operation: The end of the path, such as `records/query`.
  ///   - isWrite: Whether the request changes something, so that it matters whether it was carried
  ///     out.
  /// - Throws: A `RecordError`; `CancellationError`.
  func send<Response: Decodable>(
    _ request: some Encodable, to operation: String, isWrite: Bool = false
  ) async throws -> Response {
    let reply = try await reply(to: request, of: operation, isWrite: isWrite)
    guard (200..<300).contains(reply.status) else { throw error(of: reply, isWrite: isWrite) }
    do { return try JSONDecoder().decode(Response.self, from: reply.body) } catch {
      // For example the page of a network that one must log in to.
      throw isWrite
        ? RecordError(.replyLost)
        : RecordError(.other(CloudKitResponseError(operation: operation, cause: "\(error)")))
    }
  }

  /// Returns the error of a request that needs a user.
  ///
  /// - Parameter member: The name of a member that a successful response has.
  /// - Returns: Nil if the request succeeds.
  func failure(of operation: String, expecting member: String) async throws -> CloudKitFailure? {
    let reply = try await reply(to: CloudKitEmptyRequest(), of: operation, isWrite: false)
    guard let failure = reply.failure else {
      guard (200..<300).contains(reply.status) else { throw error(of: reply, isWrite: false) }
      let response = try? JSONSerialization.jsonObject(with: reply.body) as? [String: Any]
      if response?[member] != nil { return nil }
      // For example the page of a network that one must log in to.
      throw RecordError(
        .unavailable("\(CloudKitResponseError(operation: operation, cause: "it has no \(member)"))")
      )
    }
    return failure
  }

  /// The path of an operation. Users are requested from the public database only.
  private func path(of operation: String) -> String {
    let scope = operation.hasPrefix("users/") ? .public : scope
    return "\(path)\(scope.rawValue)/\(operation)"
  }

  // MARK: Sending

  private struct Reply: Sendable {
    var status: Int
    var headers: HTTPHeaders
    var body: Data
    /// The time at which the request was sent.
    var sent: Date

    /// The header `Retry-After` in seconds.
    var delay: Double? { headers["Retry-After"].flatMap { Double($0) } }

    var failure: CloudKitFailure? { try? JSONDecoder().decode(CloudKitFailure.self, from: body) }
  }

  private func reply(
    to request: some Encodable, of operation: String, isWrite: Bool
  ) async throws -> Reply {
    if case .serverKey = credentials, scope == .private {
      throw RecordError(
        .notPermitted(
          "a server-to-server key has no private database, which belongs to a user; use the public "
            + "one, or a web token of the user"))
    }
    // A request without parameters is a GET.
    let body = request is CloudKitEmptyRequest ? Data() : try JSONEncoder().encode(request)
    switch credentials {
    case .serverKey(let key):
      let headers = try key.headers(for: body, to: path(of: operation), at: now())
      return try await exchange(body, operation, headers: headers, isWrite: isWrite).response.get()
    case .apiToken(let token):
      return try await exchange(body, operation, query: ["ckAPIToken": token], isWrite: isWrite)
        .response.get()
    case .user(let user):
      // A request that was sent runs to its end, because its response has the next token.
      return try await user.exchange { token in
        let completion = Lock(Completion(response: .failure(CancellationError())))
        await UnstructuredTasks.runShielded {
          let end = await exchange(
            body, operation, query: ["ckAPIToken": user.apiToken, "ckWebAuthToken": token],
            isWrite: isWrite)
          completion.withLock { $0 = end }
        }
        return completion.withLock(\.self)
      }
    }
  }

  private typealias Completion = CloudKitUserSession.Completion<Reply>

  private func exchange(
    _ body: Data, _ operation: String, headers: [String: String] = [:],
    query: KeyValuePairs<String, String> = [:], isWrite: Bool
  ) async -> Completion {
    var received: HTTPHeaders?
    let response: Result<Reply, any Error>
    do {
      let reply = try await transfer(
        body, operation, headers: headers, query: query, isWrite: isWrite)
      received = reply.headers
      response = .success(reply)
    } catch let error as HTTPTransferError {
      // A response that was cut off has the token in its head.
      received = error.head?.headers
      if isWrite, error.wasSent {
        response = .failure(RecordError(.replyLost))
      } else {
        response = .failure(
          RecordError(error.isTransient ? .unavailable("\(error)") : .other(error)))
      }
    } catch let error as any HTTPRequestError {
      // The response was too large, so the request was carried out.
      response = .failure(RecordError(isWrite ? .replyLost : .other(error)))
    } catch { response = .failure(error) }
    return Completion(response: response, nextToken: received?["X-Apple-CloudKit-Web-Auth-Token"])
  }

  private func transfer(
    _ body: Data, _ operation: String, headers: [String: String],
    query: KeyValuePairs<String, String>, isWrite: Bool
  ) async throws -> Reply {
    let parameters = query.map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&")
    let address =
      host.absoluteString + path(of: operation) + (parameters.isEmpty ? "" : "?\(parameters)")
    guard let url = URL(string: address) else {
      throw RecordError(.invalid("the host of CloudKit is no URL: \(host)"))
    }
    var request = URLRequest(url: url)
    if !body.isEmpty {
      request.httpMethod = "POST"
      request.httpBody = body
      request.setValue("application/json; charset=utf-8", forHTTPHeaderField: "Content-Type")
    }
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    let options = HTTPRequestOptions(
      redirects: .notFollowed, isRepeatable: !isWrite, bodyLimit: Self.bodyLimit,
      errorBodyLimit: Self.errorBodyLimit)
    let sent = now()
    do {
      let response = try await HTTPDataOperation(request, options: options, session: session)
        .run().get()
      return Reply(
        status: response.status, headers: response.headers, body: response.body, sent: sent)
    } catch let error as HTTPStatusError {
      return Reply(status: error.status, headers: error.headers, body: error.body, sent: sent)
    }
  }

  /// Returns a text for the query of a URL. Characters that Apple's reference names are encoded,
  /// too.
  private static func encoded(_ text: String) -> String {
    let allowed = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "!"..."~"))
      .union(CharacterSet(charactersIn: "-._~"))
    return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
  }

  // MARK: Errors

  private func error(of reply: Reply, isWrite: Bool) -> RecordError {
    if var failure = reply.failure {
      if failure.retryAfter == nil {
        failure.retryAfter = reply.delay
      }
      if failure.serverErrorCode == "AUTHENTICATION_FAILED", case .serverKey(let key) = credentials
      {
        return signatureError(failure, reply, key)
      }
      return failure.error(isWrite: isWrite)
    }
    let text = "the server of CloudKit responded with status \(reply.status)"
    let delay = CloudKitFailure.delay(of: reply.delay)
    switch reply.status {
    case 413: return RecordError(.limitExceeded)
    case 429, 503: return RecordError(.unavailable(text), retryAfter: delay)
    // A proxy does not know whether the server has carried out the request.
    case 500...: return RecordError(isWrite ? .replyLost : .unavailable(text), retryAfter: delay)
    case 401, 403, 421: return RecordError(.notPermitted(text))
    default: return RecordError(.invalid(text))
    }
  }

  /// The error of a rejected signature (rule Y4).
  private func signatureError(
    _ failure: CloudKitFailure, _ reply: Reply, _ key: CloudKitServerKey
  ) -> RecordError {
    let now = now()
    if let text = reply.headers["Date"], let date = HTTPDate.date(from: text),
      abs(date.timeIntervalSince(now)) > Self.clockTolerance
    {
      return RecordError(
        .notPermitted(
          "\(failure.text). The clock of this machine is wrong: it shows \(now.formatted(.iso8601)), and "
            + "the server's Date is \(date.formatted(.iso8601)). Set the clock"))
    }
    if now.timeIntervalSince(reply.sent) > Self.clockTolerance {
      return RecordError(.unavailable("\(failure.text): the signature expired on the way"))
    }
    return RecordError(
      .notPermitted(
        "\(failure.text). Check that the key \(key.id) is registered for this container and environment, "
          + "and belongs to this private half"))
  }
}

/// The error of a response that is not as Apple's reference describes it.
struct CloudKitResponseError: Error, CustomStringConvertible {
  let operation: String
  let cause: String

  var description: String {
    "the response to \(operation) is not as CloudKit describes it: \(cause)"
  }
}
