/// The reason why the server refuses a request before a handler sees it.
package struct RequestRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The status of the response.
  package let status: Int
  /// The text of the response: what is wrong, and what to do.
  package let description: String
  /// The methods that the address takes, if the method is the reason.
  package let allowed: [String]
  /// The address that a browser returns to after it has sent the token, if the token is missing.
  let login: String?

  init(_ status: Int, _ description: String, login: String? = nil) {
    (self.status, self.description, self.login) = (status, description, login)
    allowed = []
  }

  /// The address takes other methods (RFC 9110, 15.5.6).
  init(method: String, allowing allowed: [String]) {
    (status, description, login) = (405, "The method \(method) is not allowed.", nil)
    self.allowed = allowed
  }
}
