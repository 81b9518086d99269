/// A request that a server of this package hands to its handler.
///
/// Its form, its origin and its permissions have been checked.
package struct HTTPRequest: Sendable {
  /// The method. A request with HEAD has GET here: the server sends its response without the body.
  package var method: String { head.method == "HEAD" ? "GET" : head.method }
  /// The path, decoded once. It begins with a slash and has no segment `.` or `..`.
  package var path: String { head.target.path }
  /// The items of the query, decoded once, in their order.
  package var query: [(name: String, value: String)] { head.target.query }
  package var headers: RequestHeaders { head.headers }
  /// The bytes of the body.
  package let body: [UInt8]
  /// The address of the client, without the port.
  package let peer: String
  /// The user of this machine whose program has sent it; nil for a safe method, and if it is not known.
  package let user: UInt32?
  /// Whether it has the token itself, which a proxy adds, and not only the session of a browser.
  package let hasToken: Bool
  /// The nonce of the scripts and styles in the page that answers this request.
  package let nonce: String
  /// The text that forms have in a hidden field with the name ``RequestGuard/formField``, and that
  /// scripts send in the header ``RequestGuard/formHeader``.
  package let formSecret: String

  /// Whether the client prefers JSON to a page.
  package var prefersJSON: Bool { head.prefersJSON }

  let head: RequestHead

  /// Whether the client asked for the header of the response only.
  var isHead: Bool { head.method == "HEAD" }

  /// The value of the first item of the query with a name.
  package func queryValue(_ name: String) -> String? { query.first { $0.name == name }?.value }

  /// The fields of the form in the body; nil if the body is no form.
  package var form: [(name: String, value: String)]? { Self.form(body, of: head) }

  static func form(_ body: [UInt8], of head: RequestHead) -> [(name: String, value: String)]? {
    let type = head.headers["Content-Type"]?.split(separator: ";").first?.lowercased()
    guard type == "application/x-www-form-urlencoded" else { return nil }
    return PercentEncoding.items(body)
  }
}
