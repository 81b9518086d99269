internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The body of a request.
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
  /// Removes the body from a request.
  init(
    takenFrom request: inout URLRequest, of summary: HTTPRequestSummary
  ) throws(HTTPTransferError) {
    guard let data = request.httpBody else {
      // Setting the body to nil would remove an `httpBodyStream`, which is an error later.
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
