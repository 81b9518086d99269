internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// What a request sends.
enum HTTPRequestBody: Sendable {
  case none
  case data(Data)
  case file(URL, byteCount: Int)

  var byteCount: Int {
    switch self {
    case .none: 0
    case .data(let data): data.count
    case .file(_, let count): count
    }
  }
}

extension HTTPRequestBody {
  /// Takes the body out of a request.
  init(
    takenFrom request: inout URLRequest, of summary: HTTPRequestSummary
  ) throws(HTTPTransferError) {
    guard let data = request.httpBody else {
      // A stream would go, were the body set to nothing.
      self = .none
      return
    }
    request.httpBody = nil
    if data.isEmpty {
      self = .none
    } else if ["GET", "HEAD"].contains(summary.method) {
      throw HTTPTransferError.bodyOfNoUse(in: summary)
    } else {
      self = .data(data)
    }
  }
}

extension HTTPTransferError {
  static func bodyOfNoUse(in request: HTTPRequestSummary) -> HTTPTransferError {
    HTTPTransferError(
      request: request,
      reason: .badRequest(
        "a \(request.method) request has no body: set the httpMethod, such as to PUT"),
      message: "")
  }
}
