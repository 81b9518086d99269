/// The reason why the server refuses a request before a handler sees it.
package struct RequestRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The status of the response.
  package let status: Int
  /// The text of the response: what is wrong, and what to do.
  package let description: String

  init(_ status: Int, _ description: String) {
    (self.status, self.description) = (status, description)
  }
}
