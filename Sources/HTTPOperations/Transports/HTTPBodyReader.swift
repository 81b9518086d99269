/// Reads the body of a response, decompressed.
struct HTTPBodyReader {
  let exchange: HTTPExchange
  private let request: HTTPRequestSummary
  private let inflater: Inflater?
  /// The error of a body in a coding that cannot be decompressed. A response may name a coding and
  /// have no body.
  private let undecodable: HTTPTransportError?

  init(_ exchange: HTTPExchange, _ head: HTTPResponseHead, of request: HTTPRequestSummary) {
    self.exchange = exchange
    self.request = request
    let coding = exchange.isEncoded ? head.headers.contentCoding : nil
    inflater = coding.flatMap { Inflater(coding: $0) }
    let isUsable =
      coding == nil || inflater != nil
      || head.headers.isCoded(asRequestedIn: exchange.request.headers)
    undecodable =
      isUsable
      ? nil : HTTPTransportError(.undecodableBody, "its coding \(coding ?? "") was not requested")
  }

  /// Waits for bytes of the body.
  ///
  /// - Returns: Nil at the end of a complete body.
  func next() async throws -> [UInt8]? {
    do {
      guard let inflater else {
        let bytes = try await exchange.next()
        if bytes != nil, let undecodable { throw undecodable }
        return bytes
      }
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
