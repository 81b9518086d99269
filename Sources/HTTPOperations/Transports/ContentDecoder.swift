/// Undoes one content coding of a body.
protocol ContentDecoder: AnyObject {
  /// Adds the next bytes of the body, after all of the earlier ones have been used.
  func add(_ bytes: [UInt8])

  /// Decompresses at most 64 KiB.
  ///
  /// - Returns: Nil if more input is needed.
  /// - Throws: An error if the body is invalid.
  func next() throws(HTTPTransportError) -> [UInt8]?

  /// - Throws: An error if the body must not end here. One without any bytes is empty.
  func end() throws(HTTPTransportError)
}

extension HTTPTransportError {
  /// Bytes follow the compressed data.
  static var surplus: Self {
    Self(.undecodableBody, "data follow its end", advice: lenientAdvice)
  }

  static var incompleteBody: Self { Self(.connectionLost, "the compressed body is not complete") }
}
