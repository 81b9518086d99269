/// Reads the body of a response, decompressed.
struct HTTPBodyReader {
  let exchange: HTTPExchange
  private let request: HTTPRequestSummary
  let head: HTTPResponseHead
  private let decoder: BodyDecoder
  /// The error of a body in a coding that cannot be decompressed. A response may name a coding and
  /// have no body.
  private let undecodable: HTTPTransportError?

  init(
    _ exchange: HTTPExchange, _ head: HTTPResponseHead, of request: HTTPRequestSummary,
    _ decoding: HTTPRequestOptions.BodyDecoding
  ) {
    self.exchange = exchange
    self.request = request
    let coding = exchange.isEncoded ? head.headers.contentCoding : nil
    let isRequested = head.headers.isCoded(asRequestedIn: exchange.request.headers)
    let isLenient = decoding == .lenient
    decoder = BodyDecoder(isRequested ? nil : coding, isLenient: isLenient)
    let rest = isRequested ? coding : decoder.rest
    // In other cases, the body is not delivered.
    let isDelivered = isRequested || isLenient
    self.head = head.withUndecodedCoding(isDelivered ? rest : nil)
    undecodable =
      rest == nil || isDelivered
      ? nil
      : HTTPTransportError(
        .undecodableBody, "its coding \(rest ?? "") is unknown",
        advice: HTTPTransportError.lenientAdvice)
  }

  /// Waits for bytes of the body.
  ///
  /// - Returns: Nil at the end of a complete body.
  func next() async throws -> [UInt8]? {
    do {
      while true {
        if !decoder.isIdentity, let bytes = try decoder.next() {
          if !bytes.isEmpty { return bytes }
          try Task.checkCancellation()
          await Task.yield()
          continue
        }
        guard let bytes = try await exchange.next() else { break }
        if let undecodable { throw undecodable }
        if decoder.isIdentity { return bytes }
        decoder.add(bytes)
      }
      try decoder.end()
      return nil
    } catch let error as HTTPTransportError {
      throw HTTPTransferError(error, of: request, after: head)
    }
  }
}

extension HTTPHeaders {
  /// Whether the body has codings that a request names beside those of ``Inflater``: its sender
  /// decodes them.
  fileprivate func isCoded(asRequestedIn request: HTTPHeaders) -> Bool {
    let requested = request.codings(in: "Accept-Encoding")
    let own = codings(in: "Content-Encoding")
    return own.isSubset(of: requested) && !own.isSubset(of: Inflater.codings + ["identity"])
  }

  /// The codings in a list, in lower case and without parameters.
  private func codings(in name: String) -> Set<String> {
    let items = values(of: name).joined(separator: ",").lowercased().split(separator: ",")
    return Set(
      items.map { item in
        item.prefix { $0 != ";" }.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      })
  }
}
