/// A request that a client sends to harm the server, and the responses that are right.
struct HostileRequest: Sendable, CustomStringConvertible {
  /// The action of the client.
  let description: String
  private let head: [UInt8]
  private let body: [UInt8]
  /// The statuses of the responses that are right; 0 for a connection that is closed without one.
  let statuses: Set<Int>
  /// Whether the client closes its end after it has sent the bytes.
  let isHalfClosed: Bool

  /// - Parameter text: The bytes, where {host} and {token} are replaced by the values of the
  ///   server.
  init(_ description: String, _ text: String, _ statuses: Int..., isHalfClosed: Bool = false) {
    self.init(description, bytes: Array(text.utf8), Set(statuses), isHalfClosed: isHalfClosed)
  }

  init(
    _ description: String, bytes: [UInt8], body: [UInt8] = [], _ statuses: Set<Int>,
    isHalfClosed: Bool = false
  ) {
    (self.description, head, self.body) = (description, bytes, body)
    (self.statuses, self.isHalfClosed) = (statuses, isHalfClosed)
  }

  func bytes(host: String, token: String) -> [UInt8] {
    var result = head
    for (name, value) in [("{host}", host), ("{token}", token)] {
      while let range = result.firstRange(of: Array(name.utf8)) {
        result.replaceSubrange(range, with: Array(value.utf8))
      }
    }
    return result + body
  }

  /// A request that differs from a good one in its request line.
  static func line(_ description: String, _ line: String, _ statuses: Int...) -> HostileRequest {
    HostileRequest(description, bytes: Array((line + "\r\n" + fields).utf8), Set(statuses))
  }

  /// A request that differs from a good one in its request target.
  static func target(_ target: String, _ statuses: Int...) -> HostileRequest {
    HostileRequest(
      "target \(target.prefix(60))", bytes: Array("GET \(target) HTTP/1.1\r\n\(fields)".utf8),
      Set(statuses))
  }

  /// A request that differs from a good one in other fields.
  static func field(_ description: String, _ field: String, _ statuses: Int...) -> HostileRequest {
    HostileRequest(
      description, bytes: Array("GET / HTTP/1.1\r\n\(field)\r\n\(fields)".utf8), Set(statuses))
  }

  /// A request with POST, from a program that has the token.
  static func post(
    _ description: String, _ field: String, _ body: String, _ statuses: Int...
  ) -> HostileRequest {
    HostileRequest(
      description, bytes: Array("POST / HTTP/1.1\r\n\(field)\r\n\(fields)".utf8),
      body: Array(body.utf8), Set(statuses))
  }

  static let fields =
    "Host: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
}
