/// A field of the header of a response, checked so that it cannot inject another one.
package struct HTTPHeader: Sendable, Hashable {
  package let name: String
  package let value: String

  /// Creates a field.
  ///
  /// - Parameters:
  ///   - name: A token of RFC 9110: letters, digits and `!#$%&'*+-.^_|~` with the backtick.
  ///   - value: Visible characters of ASCII, spaces and tabs.
  /// - Throws: An ``HTTPHeaderError``, if the name or the value has other characters, or if the
  ///   server sets the field itself.
  package init(_ name: String, _ value: String) throws(HTTPHeaderError) {
    guard Self.isToken(name.utf8) else { throw .invalidName(name) }
    guard !Self.reserved.contains(name.lowercased()) else { throw .reserved(name) }
    guard value.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x09 }) else {
      throw .invalidValue(name: name)
    }
    (self.name, self.value) = (name, value)
  }

  /// Creates a field of this module, whose name and value are known to be valid.
  init(trusted name: String, _ value: String) { (self.name, self.value) = (name, value) }

  /// The fields that describe the connection, and those that protect every response.
  private static let reserved: Set<String> = [
    "connection", "content-length", "content-security-policy", "content-type",
    "cross-origin-opener-policy", "cross-origin-resource-policy", "date", "keep-alive",
    "referrer-policy", "te", "trailer", "transfer-encoding", "upgrade", "x-content-type-options",
  ]

  /// Whether the bytes are a token of RFC 9110, such as the name of a field or of a method.
  static func isToken(_ text: some Collection<UInt8>) -> Bool {
    !text.isEmpty
      && text.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"):
          true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }
}

/// The error of a field that a response cannot have.
package enum HTTPHeaderError: Error, Hashable, CustomStringConvertible {
  case invalidName(String)
  case invalidValue(name: String)
  case reserved(String)

  package var description: String {
    switch self {
    case .invalidName(let name):
      "\(String(reflecting: name)) is no name of a header field; use letters, digits and '-'"
    case .invalidValue(let name):
      "the value of \(name) has characters that a header field cannot have; encode it first"
    case .reserved(let name): "the server sets \(name) itself; remove it from the response"
    }
  }
}
