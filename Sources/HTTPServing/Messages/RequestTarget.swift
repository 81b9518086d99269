/// The path and the query of a request.
package struct RequestTarget: Sendable {
  /// The target as the client sent it.
  package let text: String
  /// The path, decoded once. It begins with a slash and has no segment `.` or `..`.
  package let path: String
  /// The items of the query, decoded once, in their order.
  package let query: [(name: String, value: String)]

  /// Reads a request target.
  ///
  /// - Parameter text: The target as the client sent it.
  /// - Throws: A ``RequestRefusal``, if it is not a path with an optional query, or if an escape is
  ///   invalid or decodes to something other than UTF-8 without a zero byte.
  package init(_ text: some Collection<UInt8>) throws(RequestRefusal) {
    guard text.first == UInt8(ascii: "/") else {
      throw RequestRefusal(400, "The request target must be a path that begins with a slash.")
    }
    guard text.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else {
      throw RequestRefusal(400, "The request target has characters that must be encoded.")
    }
    let parts = text.split(
      separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    guard let path = PercentEncoding.decoded(parts[0]),
      let query = parts.count > 1 ? PercentEncoding.items(parts[1]) : []
    else { throw RequestRefusal(400, "The request target has an invalid percent-encoding.") }
    guard path.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
      !path.utf8.split(separator: UInt8(ascii: "/")).contains(where: {
        $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8)
      })
    else { throw RequestRefusal(400, "The path has a control character, or a segment of dots.") }
    (self.path, self.query) = (path, query)
    self.text = String(decoding: text, as: UTF8.self)
  }
}
