internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension HTTPTransferError {
  /// - Parameter hasResponse: Whether the response had begun.
  init(_ error: any Error, of request: HTTPRequestSummary, hasResponse: Bool) {
    self.request = request
    // Of the error itself only this is kept: it has the whole address with all that is secret in it.
    message = error.localizedDescription
    reason = Reason(error, hasResponse: hasResponse)
  }
}

extension HTTPTransferError.Reason {
  init(_ error: any Error, hasResponse: Bool) {
    guard let error = error as? URLError else {
      self = .other(code: (error as NSError).code)
      return
    }
    switch error.code {
    case .cannotFindHost, .dnsLookupFailed: self = .hostNotFound
    case .cannotConnectToHost: self = .cannotConnect
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
      self = .badRequest("the address is none")
    #if canImport(FoundationNetworking)
      // What libcurl knows, Foundation does not hand on: it has few codes there, and says the rest in words.
      case .badServerResponse: self = .connectionLost
      case .unsupportedURL where error.localizedDescription.contains("HTTP/"): self = .badAnswer
      case .unknown: self = Self(libcurl: error.localizedDescription, hasResponse: hasResponse)
    #else
      case .badServerResponse: self = .badAnswer
    #endif
    case .unsupportedURL:
      self = .badRequest("only addresses of the schemes http and https can be asked")
    default: self = .other(code: error.code.rawValue)
    }
  }

  #if canImport(FoundationNetworking)
    private init(libcurl text: String, hasResponse: Bool) {
      let text = text.lowercased()
      if text.contains("certificate") {
        self = .certificateRefused
      } else if hasResponse || text.contains("reset") || text.contains("failure when")
        || text.contains("broken pipe") || text.contains("recv failure")
        || text.contains("send failure") || text.contains("unexpected eof")
      {
        self = .connectionLost
      } else if text.contains("ssl") || text.contains("tls") {
        self = .notSecure
      } else if text.contains("http") || text.contains("header") {
        self = .badAnswer
      } else {
        self = .other(code: URLError.Code.unknown.rawValue)
      }
    }
  #endif
}
