/// Reads the body of a response, decompressed.
struct HTTPBodyReader {
  let exchange: HTTPExchange
  private let request: HTTPRequestSummary
  private let inflater: Inflater?

  init(
    _ exchange: HTTPExchange, _ head: HTTPResponseHead, of request: HTTPRequestSummary
  ) throws(HTTPTransferError) {
    self.exchange = exchange
    self.request = request
    guard exchange.isEncoded, let coding = head.headers.contentCoding else {
      inflater = nil
      return
    }
    inflater = Inflater(coding: coding)
    // A request that names a coding decodes it itself.
    let accepted = exchange.request.headers["Accept-Encoding"] ?? ""
    if inflater == nil, !accepted.lowercased().contains(coding), request.method != "HEAD" {
      let problem = "its coding \(coding) was not requested"
      throw HTTPTransferError(HTTPTransportError(.undecodableBody, problem), of: request)
    }
  }

  /// Waits for bytes of the body.
  ///
  /// - Returns: Nil at the end of a complete body.
  func next() async throws -> [UInt8]? {
    do {
      guard let inflater else { return try await exchange.next() }
      while true {
        if let bytes = try inflater.next() { return bytes }
        guard let bytes = try await exchange.next() else { break }
        inflater.add(bytes)
      }
      if inflater.isComplete { return nil }
      throw HTTPTransportError(.connectionLost, "the compressed body is not complete")
    } catch let error as HTTPTransportError {
      throw HTTPTransferError(error, of: request)
    }
  }
}
