internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension HTTPTransferError {
  /// - Parameter hasResponse: Whether the response had begun.
  init(_ error: any Error, of request: HTTPRequestSummary, hasResponse: Bool) {
    self.request = request
    // Only the message of the error is kept, because the error has the whole URL with its secrets.
    message = error.localizedDescription
    reason = Reason(error, hasResponse: hasResponse)
  }
}

extension HTTPTransferError.Reason {
  package init(_ error: any Error, hasResponse: Bool) {
    guard let error = error as? URLError else {
      self = .other(code: (error as NSError).code)
      return
    }
    switch error.code {
    case .cannotFindHost, .dnsLookupFailed: self = .hostNotFound
    #if !canImport(FoundationNetworking)
      case .cannotConnectToHost: self = .cannotConnect
    #endif
    case .notConnectedToInternet, .internationalRoamingOff, .callIsActive, .dataNotAllowed:
      self = .offline
    case .timedOut: self = .timedOut
    case .networkConnectionLost: self = .connectionLost
    case .serverCertificateUntrusted, .serverCertificateHasBadDate,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
      self = .certificateRefused
    case .secureConnectionFailed, .clientCertificateRejected, .clientCertificateRequired:
      self = .notSecure
    case .cannotParseResponse: self = .badAnswer
    case .badURL:
      self = .badRequest("the URL is invalid")
    #if canImport(FoundationNetworking)
      // Foundation on Linux has few codes for the errors of libcurl. The rest is only in the
      // message.
      case .badServerResponse: self = .connectionLost
      case .unsupportedURL where error.localizedDescription.contains("HTTP/"): self = .badAnswer
      case .unknown:
        self = Self(
          libcurl: error.localizedDescription, hasResponse: hasResponse,
          otherwise: .other(code: URLError.Code.unknown.rawValue))
      // This is also the code of later failures, if one address of the host has refused a
      // connection and another has accepted one: the server may have received the request.
      case .cannotConnectToHost:
        self = Self(
          libcurl: error.localizedDescription, hasResponse: hasResponse, otherwise: .connectionLost)
    #else
      case .badServerResponse: self = .badAnswer
    #endif
    case .unsupportedURL:
      self = .badRequest("only http and https URLs can be requested")
    default: self = .other(code: error.code.rawValue)
    }
  }

  #if canImport(FoundationNetworking)
    private static let signsOfLoss = [
      "reset", "failure when", "broken pipe", "recv failure", "send failure", "unexpected eof",
      "empty reply",
      // HTTP/2.
      "not closed cleanly", "framing layer", "goaway",
    ]

    private init(libcurl text: String, hasResponse: Bool, otherwise: Self) {
      let text = text.lowercased()
      if text.contains("certificate") {
        self = .certificateRefused
      } else if hasResponse || Self.signsOfLoss.contains(where: { text.contains($0) }) {
        self = .connectionLost
      } else if text.contains("connect to") {
        // "Failed to connect to", "Couldn't connect to server".
        self = .cannotConnect
      } else if text.contains("timed out") {
        self = .timedOut
      } else if text.contains("ssl") || text.contains("tls") {
        self = .notSecure
      } else if text.contains("http") || text.contains("header") {
        self = .badAnswer
      } else {
        self = otherwise
      }
    }
  #endif
}
