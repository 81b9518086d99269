import CompositeOperations
import Foundation
import LoopbackServer

/// The HTTP side of the server: paths, faults, authentication and responses.
final class CloudService: Sendable {
  struct State: Sendable {
    var store: CloudStore
    var authentication: Authentication
    var requests: [FakeCloudKit.Request] = []
    var fault: @Sendable (FakeCloudKit.Request) -> FakeCloudKit.Fault? = { _ in nil }
    var now: @Sendable () -> Date = { Date() }
  }

  private struct Response: Sendable {
    var status = 200
    var body: CloudValue
    var nextToken: String?
  }

  private static let databases: Set = ["public", "private", "shared"]

  /// The date format of HTTP.
  private static let dateFormat = Date.VerbatimFormatStyle(
    format: """
      \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .defaultDigits) \
      \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
      \(second: .twoDigits) GMT
      """,
    locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt,
    calendar: Calendar(identifier: .gregorian))

  let state: Lock<State>
  let users: [String]
  private let prefix: String
  private let keepsConnectionsOpen: Bool

  /// - Parameter prefix: The start of all paths: version, container and environment.
  init(prefix: String, store: CloudStore, authentication: Authentication, users: [String]) {
    self.prefix = prefix
    self.users = users
    keepsConnectionsOpen = store.options.keepsConnectionsOpen
    state = Lock(State(store: store, authentication: authentication))
  }

  func respond(to received: LoopbackRequest, on connection: LoopbackConnection) {
    let parts = received.path.split(separator: "?", maxSplits: 1).map(String.init)
    let subpath = parts.first ?? ""
    let query = Result { try Self.parameters(parts.count > 1 ? parts[1] : "") }
    let place = subpath.dropFirst(prefix.count).split(separator: "/", maxSplits: 1)
      .map(String.init)
    let isKnown =
      subpath.hasPrefix(prefix) && place.count == 2 && Self.databases.contains(place[0])
    var request = FakeCloudKit.Request(
      path: isKnown ? place[1] : subpath, database: isKnown ? place[0] : "",
      query: (try? query.get()) ?? [:], body: received.body, number: 0)
    request.number = state.withLock { [request] state in
      state.requests.append(request)
      state.requests[state.requests.count - 1].number = state.requests.count
      return state.requests.count
    }

    let (fault, now) = state.withLock { ($0.fault, $0.now) }
    let injected = fault(request)
    var rejection: CloudError?
    var failures: [String: String] = [:]
    var isReplyLost = false
    var isReplyCut = false
    switch injected {
    case nil: break
    case .throttled(let retryAfter)?:
      rejection = CloudError("THROTTLED", "injected error", retryAfter: retryAfter)
    case .unavailable(let retryAfter)?:
      rejection = CloudError("TRY_AGAIN_LATER", "injected error", retryAfter: retryAfter)
    case .code(let code, let status)?:
      rejection = CloudError(code, "injected error", status: status)
    case .failing(let record, let code)?: failures[record] = code
    case .losingReply?: isReplyLost = true
    case .cuttingReply?: isReplyCut = true
    case .losingRequest?: return
    case .status(let status, let body)?:
      return send(status, type: "text/html", Data(body.utf8), now: now(), on: connection)
    }

    let credentials = Authentication.Credentials(
      keyID: received["X-Apple-CloudKit-Request-KeyID"],
      date: received["X-Apple-CloudKit-Request-ISO8601Date"],
      signature: received["X-Apple-CloudKit-Request-SignatureV1"], subpath: subpath,
      query: request.query, body: received.body, database: request.database,
      needsUser: request.path.hasSuffix("/modify") || request.path.hasPrefix("users/"))
    let context = CloudContext(
      database: request.database, now: now(), failures: failures)
    let method = received.method
    let response = state.withLock { [request, rejection, isReplyLost] state -> Response in
      var identity = Authentication.Identity()
      do {
        if !isKnown { throw CloudError("NOT_FOUND", "unknown path '\(subpath)'") }
        _ = try query.get()
        identity = try state.authentication.identify(
          credentials, now: context.now, isReplyLost: isReplyLost)
        if let rejection { throw rejection }
        var context = context
        context.user = identity.user
        let body = try Self.perform(method, request, on: &state.store, context)
        return Response(body: body, nextToken: identity.nextToken)
      } catch {
        let error = error as? CloudError ?? CloudError("INTERNAL_ERROR", "\(error)")
        return Response(
          status: error.status, body: .object(error.members), nextToken: identity.nextToken)
      }
    }
    if isReplyLost { return }
    send(
      response, number: request.number, host: received["Host"], now: context.now, cut: isReplyCut,
      connection)
  }

  private static func perform(
    _ method: String, _ request: FakeCloudKit.Request, on store: inout CloudStore,
    _ context: CloudContext
  ) throws -> CloudValue {
    let canGet = ["users/caller", "users/current", "zones/list"].contains(request.path)
    guard method == "POST" || (method == "GET" && canGet) else {
      throw CloudError.badRequest("'\(request.path)' requires POST, not \(method)")
    }
    var body: CloudValue = [:]
    if !canGet || !request.body.isEmpty {
      guard let json = request.json else { throw CloudError.badRequest("the body is not JSON") }
      body = json
    }
    switch request.path {
    case "records/modify": return try store.modify(body, context)
    case "records/query": return try store.query(body, context)
    case "records/lookup": return try store.lookup(body, context)
    case "records/changes", "zones/changes":
      throw CloudError.badRequest("'\(request.path)' is deprecated; use changes/zone")
    case "changes/zone": return try store.changesOfZones(body, context)
    case "changes/database": return try store.changesOfDatabase(body, context)
    case "zones/list":
      _ = try RequestObject(body, at: "request", keys: [])
      return try store.listZones(context)
    case "zones/lookup": return try store.lookupZones(body, context)
    case "zones/modify": return try store.modifyZones(body, context)
    case "users/caller", "users/current":
      guard context.database == "public" else {
        throw CloudError.badRequest("'\(request.path)' requires the public database")
      }
      return ["userRecordName": .string(context.user ?? "")]
    default: throw CloudError("NOT_FOUND", "unknown path '\(request.path)'")
    }
  }

  /// Parses a query. The characters '+', '/' and '=' must be encoded in values.
  private static func parameters(_ query: String) throws -> [String: String] {
    var parameters: [String: String] = [:]
    for pair in query.split(separator: "&", omittingEmptySubsequences: !query.contains("&")) {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      guard ["ckAPIToken", "ckWebAuthToken"].contains(name), parameters[name] == nil,
        parts.count == 2, !parts[1].contains(where: { "+/=".contains($0) }),
        let value = parts[1].removingPercentEncoding
      else {
        throw CloudError.badRequest("query: invalid parameter '\(pair)'")
      }
      parameters[name] = value
    }
    return parameters
  }

  private func send(
    _ response: Response, number: Int, host: String?, now: Date, cut isCut: Bool,
    _ connection: LoopbackConnection
  ) {
    var body = response.body
    if response.status != 200, case .object(var members) = body {
      members["uuid"] = .string(
        "00000000-0000-4000-8000-\(String(1_000_000_000_000 + number).suffix(12))")
      if members["serverErrorCode"] == "AUTHENTICATION_REQUIRED" {
        members["redirectURL"] = .string("http://\(host ?? "127.0.0.1")/sign-in")
      }
      body = .object(members)
    }
    let headers = response.nextToken.map { ["X-Apple-CloudKit-Web-Auth-Token: \($0)"] } ?? []
    send(
      response.status, type: "application/json; charset=UTF-8", body.data, headers: headers,
      now: now, cut: isCut, on: connection)
  }

  private func send(
    _ status: Int, type: String, _ body: Data, headers: [String] = [], now: Date,
    cut isCut: Bool = false, on connection: LoopbackConnection
  ) {
    var lines = ["HTTP/1.1 \(status) Status", "Date: \(now.formatted(Self.dateFormat))"]
    lines += ["Content-Type: \(type)", "Content-Length: \(body.count)"] + headers
    if !keepsConnectionsOpen { lines.append("Connection: close") }
    let sent = isCut ? body.prefix(body.count / 2) : body
    connection.send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + Array(sent))
    if keepsConnectionsOpen, !isCut { connection.keepOpen() }
  }
}
