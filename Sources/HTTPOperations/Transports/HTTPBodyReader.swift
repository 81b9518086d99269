internal import Foundation

/// Reads the body of a response, decompressed.
struct HTTPBodyReader {
  let exchange: HTTPExchange
  /// The request, after the redirects that were followed.
  let request: HTTPRequestSummary
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
          // A cancellation of the task ends the exchange, too.
          if exchange.isCancelled { throw CancellationError() }
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

extension HTTPBodyReader {
  /// The first bytes of the body of an error. The received part if the body is cut off, or does
  /// not arrive in time.
  ///
  /// - Parameter limit: The maximum number of bytes.
  func start(limit: Int) async -> Data {
    let exchange = exchange
    async let _: Void = exchange.endLate()
    var body = Data()
    while body.count < limit, let bytes = try? await next() {
      body.append(contentsOf: bytes.prefix(limit - body.count))
    }
    return body
  }

  /// Receives the body of a redirect, so that the connection can be used again. The connection is
  /// closed if the body is large, or does not arrive in time.
  func drain() async {
    let exchange = exchange
    async let _: Void = exchange.endLate()
    var count = 0
    while count < 64 << 10, let bytes = try? await exchange.next() { count += bytes.count }
  }
}

extension HTTPHeaders {
  /// Whether the body has codings that the `Accept-Encoding` of the sender of a request names beside
  /// those of ``Inflater``: the sender decodes them, also where a library could.
  fileprivate func isCoded(asRequestedIn request: HTTPHeaders) -> Bool {
    guard request["Accept-Encoding"] != HTTPRoute.codings else { return false }
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
