/// A text that a client must know. Its descriptions do not show it.
package struct Secret: Sendable, CustomStringConvertible, CustomReflectable {
  private let bytes: [UInt8]

  package init(_ text: String) { bytes = Array(text.utf8) }

  /// Creates a secret of 256 random bits, as 64 hexadecimal digits.
  package init(bits: () -> UInt64 = randomBits) {
    self.init(Self.hex(words: 4, bits: bits))
  }

  /// The text, for the client that is meant to know it.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Whether a text is the secret. The time does not depend on the bytes of the text, only on its
  /// length.
  package func matches(_ text: String?) -> Bool {
    guard let text else { return false }
    let candidate = Array(text.utf8)
    var difference: UInt8 = candidate.count == bytes.count ? 0 : 1
    for index in candidate.indices {
      // A secret of another length is compared with itself.
      difference |= candidate[index] ^ (candidate.count == bytes.count ? bytes[index] : 0)
    }
    return difference == 0 && !bytes.isEmpty
  }

  package var description: String { "secret" }
  package var customMirror: Mirror { Mirror(self, children: []) }

  /// Returns 64 random bits of the system.
  package static func randomBits() -> UInt64 { .random(in: .min ... .max) }

  /// Random hexadecimal digits.
  static func hex(words: Int, bits: () -> UInt64 = randomBits) -> String {
    (0..<words).map { _ in
      let text = String(bits(), radix: 16)
      return String(repeating: "0", count: 16 - text.count) + text
    }.joined()
  }
}

/// The secrets of a server.
package struct ServerSecrets: Sendable {
  /// The token that clients need; nil if they need none.
  package let token: Secret?
  /// The text in the forms of the server's own pages, which pages of other servers cannot read.
  package let form: Secret
  /// The value of the cookie of a browser that has sent the token.
  package let session: Secret

  /// Creates the secrets of a server. Those other than the token end with the process.
  ///
  /// - Parameters:
  ///   - token: The token that clients need; nil if they need none.
  ///   - bits: Returns 64 random bits, different ones for each call.
  package init(token: String?, bits: () -> UInt64 = Secret.randomBits) {
    self.token = token.map { Secret($0) }
    form = Secret(bits: bits)
    session = Secret(bits: bits)
  }
}
