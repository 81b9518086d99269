/// The headers of a request or a response, in their order. Their names are case-insensitive.
///
/// ```swift
/// import HTTPOperations
///
/// let response = try await HTTPDataOperation(url).run().get()
/// let type = response.headers["content-type"]
/// let cookies = response.headers.values(of: "Set-Cookie")
/// ```
public struct HTTPHeaders: Sendable, Hashable {
  /// A header.
  public struct Field: Sendable, Hashable {
    /// The name, as it was sent.
    public let name: String
    /// The value, without spaces around it.
    public let value: String

    /// Creates a header.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }

    /// - Parameter name: A name in any case.
    func isNamed(_ name: String) -> Bool {
      self.name.utf8.count == name.utf8.count
        && zip(self.name.utf8, name.utf8).allSatisfy { $0.lowercasedASCII == $1.lowercasedASCII }
    }
  }

  /// The headers in their order. Several can have the same name.
  public private(set) var fields: [Field]

  /// Creates headers.
  ///
  /// - Parameter fields: The headers in their order.
  public init(_ fields: [Field] = []) { self.fields = fields }

  /// The value of a header; nil if there is none. Several values are separated by commas.
  ///
  /// - Complexity: Linear in the number of headers.
  public subscript(name: String) -> String? {
    let values = values(of: name)
    return values.count < 2 ? values.first : values.joined(separator: ", ")
  }

  /// The values of all headers with a name.
  public func values(of name: String) -> [String] {
    fields.lazy.filter { $0.isNamed(name) }.map(\.value)
  }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
  /// Creates headers. A name may be given more than once.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map { Field(name: $0, value: $1) })
  }
}

extension HTTPHeaders {
  mutating func append(_ name: String, _ value: String) {
    fields.append(Field(name: name, value: value))
  }

  /// Appends to the last value, which continues in another line.
  mutating func continueLast(with text: String) {
    guard let last = fields.popLast() else { return }
    fields.append(
      Field(name: last.name, value: last.value.isEmpty ? text : "\(last.value) \(text)"))
  }

  /// The coding of the body in lower case, such as `gzip`; nil if it has none.
  var contentCoding: String? {
    let coding = self["Content-Encoding"]?.lowercased()
    return ["", "identity"].contains(coding ?? "") ? nil : coding
  }

  /// Whether the body is compressed, or encoded in another way.
  var isEncoded: Bool { contentCoding != nil }

  /// The length of the body in bytes, if the server announced it and the body is not encoded.
  var contentLength: Int? {
    // A transfer coding overrides the length (RFC 9112, section 6.3).
    let isChunked = values(of: "Transfer-Encoding").contains { $0.lowercased() == "chunked" }
    if isEncoded || isChunked { return nil }
    return values(of: "Content-Length").first.flatMap { Self.length($0) }
  }

  /// - Returns: Nil if the text is no number of bytes.
  static func length(_ text: some StringProtocol) -> Int? {
    !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }
}

extension UInt8 {
  fileprivate var lowercasedASCII: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
