/// The bytes that a hostile or defective server sends, and how the request must end.
struct HostileAnswer: Sendable {
  /// The server's actions after the bytes.
  enum Rest: Sendable {
    case close
    case reset
    /// Keeps the connection open for another request.
    case hold
    /// Sends bytes until the client closes the connection.
    case endless([UInt8])
  }

  let name: String
  let bytes: [UInt8]
  /// What the server sends in a second write; empty for a single write.
  var secondPart: [UInt8] = []
  var rest = Rest.close
  var end: HostileEnd
  /// The end of a download, if it is another one.
  var downloadEnd: HostileEnd?
  var transfers: [HostileTransfer] = HostileTransfer.bodies
  var bodyLimit = 64 << 20
  /// Whether the session has a timeout of 1 s.
  var hasShortTimeout = false

  init(_ name: String, _ bytes: [UInt8], _ end: HostileEnd) {
    self.name = name
    self.bytes = bytes
    self.end = end
  }

  init(_ name: String, _ text: String, _ end: HostileEnd) {
    self.init(name, Array(text.utf8), end)
  }

  /// - Parameter fields: The status line and the headers.
  init(_ name: String, head fields: [String], _ body: [UInt8], _ end: HostileEnd) {
    self.init(name, Array((fields.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body, end)
  }

  init(_ name: String, head fields: [String], _ body: String, _ end: HostileEnd) {
    self.init(name, head: fields, Array(body.utf8), end)
  }

  init(_ name: String, head fields: [String], _ end: HostileEnd) {
    self.init(name, head: fields, [], end)
  }
}

extension HostileAnswer {
  func then(_ rest: Rest) -> HostileAnswer { with { $0.rest = rest } }

  func only(_ transfers: HostileTransfer...) -> HostileAnswer { with { $0.transfers = transfers } }

  func download(_ end: HostileEnd) -> HostileAnswer { with { $0.downloadEnd = end } }

  func limited(to bodyLimit: Int) -> HostileAnswer { with { $0.bodyLimit = bodyLimit } }

  var timingOut: HostileAnswer { with { $0.hasShortTimeout = true } }

  private func with(_ change: (inout HostileAnswer) -> Void) -> HostileAnswer {
    var answer = self
    change(&answer)
    return answer
  }

  func expectedEnd(of transfer: HostileTransfer) -> HostileEnd {
    transfer == .download ? downloadEnd ?? end : end
  }
}
