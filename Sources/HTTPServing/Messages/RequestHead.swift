/// The request line and the header of a request, after the checks of their form.
package struct RequestHead: Sendable {
  /// The methods that handlers see.
  package static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
  /// The methods that ``RequestGuard`` refuses at every address.
  private static let otherMethods = ["CONNECT", "OPTIONS", "TRACE"]

  package let method: String
  package let target: RequestTarget
  package let headers: RequestHeaders
  /// The length of the body that the client declares; nil if there is none, or if it is unknown.
  package let bodySize: Int?

  /// Checks a request.
  ///
  /// - Parameters:
  ///   - target: The target as the client sent it.
  ///   - version: The version, such as "HTTP/1.1".
  /// - Throws: A ``RequestRefusal``, if the request is malformed or ambiguous, or if the server
  ///   does not implement its method or version.
  package init(
    method: String, target: some Collection<UInt8>, version: String, headers: RequestHeaders
  ) throws(RequestRefusal) {
    guard ["HTTP/1.0", "HTTP/1.1"].contains(version) else {
      throw RequestRefusal(505, "The version of HTTP must be 1.0 or 1.1.")
    }
    guard Self.methods.contains(method) || Self.otherMethods.contains(method) else {
      throw RequestRefusal(501, "The server does not know the method.")
    }
    // Their other targets are no addresses: `OPTIONS *` and `CONNECT host:port`.
    if Self.otherMethods.contains(method), target.first != UInt8(ascii: "/") {
      throw RequestRefusal(method: method, allowing: Self.methods)
    }
    guard headers.fields.allSatisfy({ HTTPHeader.isToken($0.name.utf8) }) else {
      throw RequestRefusal(400, "The header has an invalid name.")
    }
    self.method = method
    self.headers = headers
    bodySize = try Self.bodySize(headers)
    self.target = try RequestTarget(target)
  }

  /// Whether the method must not change anything (RFC 9110, 9.2.1).
  package var isSafe: Bool { method == "GET" || method == "HEAD" }

  /// Whether a browser has sent it for a page.
  var isOfBrowser: Bool { headers["Origin"] != nil || headers["Sec-Fetch-Site"] != nil }

  /// Whether the client prefers JSON to a page.
  package var prefersJSON: Bool {
    let accept = headers["Accept"] ?? ""
    return accept.contains("application/json") && !accept.contains("text/html")
  }

  /// A length that two recipients could understand differently is refused (RFC 9112, 6.3).
  private static func bodySize(_ headers: RequestHeaders) throws(RequestRefusal) -> Int? {
    let lengths = headers.values(of: "Content-Length")
    let encodings = headers.values(of: "Transfer-Encoding")
    guard lengths.count + encodings.count <= 1 else {
      throw RequestRefusal(400, "The length of the body is ambiguous.")
    }
    guard encodings.allSatisfy({ $0.lowercased() == "chunked" }) else {
      throw RequestRefusal(501, "The only transfer encoding of the server is 'chunked'.")
    }
    guard let text = lengths.first else { return nil }
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw RequestRefusal(400, "Content-Length must be a number.")
    }
    return Int(text) ?? .max
  }
}

/// The header of a request. Names are case-insensitive.
package struct RequestHeaders: Sendable {
  package let fields: [(name: String, value: String)]

  package init(_ fields: [(name: String, value: String)]) { self.fields = fields }

  /// The value of the first field with a name.
  package subscript(name: String) -> String? { values(of: name).first }

  /// The values of all fields with a name.
  package func values(of name: String) -> [String] {
    let name = name.lowercased()
    return fields.filter { $0.name.lowercased() == name }.map(\.value)
  }

  /// The value of a cookie; nil if there is none.
  package func cookie(named name: String) -> String? {
    for field in values(of: "Cookie") {
      for part in field.split(separator: ";") {
        let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if halves.count == 2, halves[0].drop(while: { $0 == " " }) == name {
          return String(halves[1])
        }
      }
    }
    return nil
  }
}
