/// The fields that protect every response.
package enum SecurityHeaders {
  /// Returns the fields of a response.
  ///
  /// The page may run the scripts and use the styles that carry the nonce, and load nothing else.
  /// It may send requests and forms to this server only, and no page may show it in a frame.
  ///
  /// - Parameter nonce: Letters and digits that no other response has.
  package static func fields(nonce: String) -> [(name: String, value: String)] {
    let policy = [
      "default-src 'none'", "script-src 'nonce-\(nonce)'", "style-src 'nonce-\(nonce)'",
      "img-src 'self'", "connect-src 'self'", "form-action 'self'", "frame-ancestors 'none'",
      "base-uri 'none'",
    ]
    return [
      ("Content-Security-Policy", policy.joined(separator: "; ")),
      ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin"),
      ("Cross-Origin-Opener-Policy", "same-origin"),
      ("Cross-Origin-Resource-Policy", "same-origin"), ("Cache-Control", "no-store"),
    ]
  }
}
