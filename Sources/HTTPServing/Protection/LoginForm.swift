/// The form in which a browser sends the token of a server. It sets a cookie that lasts as long as
/// the browser and the server run.
enum LoginForm {
  static let path = "/login"
  private static let field = "token"

  /// Whether the request sends the form.
  static func isLogin(_ head: RequestHead) -> Bool {
    head.method == "POST" && head.target.path == path
  }

  /// The response to a request without the token.
  static func page(_ message: String) -> HTTPResponse {
    HTTPResponse(
      .html,
      """
      <!DOCTYPE html>
      <html lang="en">
      <meta charset="utf-8">
      <title>Token required</title>
      <form method="post" action="\(path)">
      <p>\(message)</p>
      <label>Token <input type="password" name="\(field)" autofocus></label>
      <button>Continue</button>
      </form>
      </html>

      """, status: 401
    ).adding(HTTPHeader(trusted: "WWW-Authenticate", "Bearer"))
  }

  /// The response to the form.
  static func response(
    to body: [UInt8], of head: RequestHead, by requestGuard: RequestGuard
  ) -> HTTPResponse {
    let token = HTTPRequest.form(body, of: head)?.first { $0.name == field }?.value
    guard let expected = requestGuard.secrets.token, expected.matches(token) else {
      return page("The token is wrong.")
    }
    let cookie = "\(requestGuard.cookieName)=\(requestGuard.secrets.session.text)"
    return .redirect(to: "/").adding(
      HTTPHeader(trusted: "Set-Cookie", "\(cookie); Path=/; HttpOnly; SameSite=Strict"))
  }
}
