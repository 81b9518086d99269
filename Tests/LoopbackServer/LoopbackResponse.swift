/// A response of a `LoopbackServer`.
package struct LoopbackResponse: Sendable {
  package var status: Int
  package var headers: [String]
  package var body: [UInt8]
  /// The value of `Content-Length`; nil for the length of the body, negative for no such header.
  package var length: Int?

  package init(
    _ status: Int = 200, headers: [String] = [], body: [UInt8] = [], length: Int? = nil
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.length = length
  }

  package init(
    _ status: Int, headers: [String] = [], _ text: String, length: Int? = nil
  ) {
    self.init(status, headers: headers, body: Array(text.utf8), length: length)
  }

  package init(_ text: String, headers: [String] = [], length: Int? = nil) {
    self.init(200, headers: headers, text, length: length)
  }

  /// The response in the format of HTTP.
  var bytes: [UInt8] {
    var lines = ["HTTP/1.1 \(status) Status", "Connection: close"] + headers
    let length = length ?? body.count
    if length >= 0, status != 204 { lines.append("Content-Length: \(length)") }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
  }
}
