/// The form in which a browser sends the token of a server. It sets a cookie that lasts as long as
/// the browser and the server run, and returns to the address that the browser has asked for.
package struct LoginForm: Sendable {
  /// The name of the field with the token.
  package static let field = "token"
  static let path = "/login"
  private static let targetItem = "to"

  /// The address that the form is sent to.
  package let action: String
  /// Why the browser sees the form.
  package let message: String
  /// Whether the browser has sent a wrong token.
  package let isRefused: Bool
  /// The nonce of the styles in the page.
  package let nonce: String

  /// - Parameter target: The address that the browser asked for.
  init(for target: String, nonce: String, isRefused: Bool = false) {
    action =
      Self.path + (target == "/" ? "" : "?\(Self.targetItem)=\(PercentEncoding.item(target))")
    message = isRefused ? "The token is wrong." : Self.reason
    (self.nonce, self.isRefused) = (nonce, isRefused)
  }

  static let reason = "The request needs the token of the server."

  /// A page with the form.
  package var page: String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <meta charset="utf-8">
    <title>Token required</title>
    <form method="post" action="\(action)">
    <p>\(message)</p>
    <label>Token <input type="password" name="\(Self.field)" autofocus></label>
    <button>Continue</button>
    </form>
    </html>

    """
  }

  // MARK: Requests

  /// Whether the request sends the form.
  static func isLogin(_ head: RequestHead) -> Bool {
    head.method == "POST" && head.target.path == path
  }

  /// The address that a browser sees after it has sent the token: the one that it asked for. It is
  /// "/" for one that is not of this server, or that GET does not take.
  static func target(of head: RequestHead) -> String {
    let isForm = head.target.path == path
    let text =
      isForm
      ? head.target.query.first { $0.name == targetItem }?.value ?? "/"
      : head.isSafe ? head.target.text : "/"
    // Browsers read a backslash as a slash, and two slashes begin the name of another host.
    guard !text.hasPrefix("//"), !text.contains("\\"),
      let target = try? RequestTarget(text.utf8), target.path != path
    else { return "/" }
    return text
  }

  /// The response to the form.
  ///
  /// - Parameter page: Returns the page with the form.
  static func response(
    to body: [UInt8], of head: RequestHead, by requestGuard: RequestGuard, nonce: String,
    page: (LoginForm) -> String
  ) -> HTTPResponse {
    let target = target(of: head)
    let token = HTTPRequest.form(body, of: head)?.first { $0.name == field }?.value
    guard let expected = requestGuard.secrets.token, expected.matches(token) else {
      return .login(page(LoginForm(for: target, nonce: nonce, isRefused: true)))
    }
    return .redirect(to: target).adding(requestGuard.cookie(for: head))
  }

  /// The response to a link with the token: the same address without it, so that it does not stay in the address bar.
  static func response(toLink head: RequestHead, by requestGuard: RequestGuard) -> HTTPResponse {
    let items = head.target.query.filter { $0.name != field }.map {
      "\(PercentEncoding.item($0.name))=\(PercentEncoding.item($0.value))"
    }
    return .redirect(
      to: head.target.path + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
    )
    .adding(requestGuard.cookie(for: head))
  }
}

extension HTTPResponse {
  /// The response to a request without the token.
  static func login(_ page: String) -> HTTPResponse {
    HTTPResponse(.html, page, status: 401).adding(HTTPHeader(trusted: "WWW-Authenticate", "Bearer"))
  }
}
