internal import CompositeOperationsFoundation
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The body of a request.
enum HTTPRequestBody: Sendable {
  case none
  case data(Data)
  case file(URL, byteCount: Int)

  /// The number of bytes.
  var byteCount: Int {
    switch self {
    case .none: 0
    case .data(let data): data.count
    case .file(_, let count): count
    }
  }

  var forTransport: HTTPTransportRequest.Body {
    switch self {
    case .none: .none
    case .data(let data): .bytes([UInt8](data))
    case .file(_, let count): .stream(byteCount: count)
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

extension HTTPRequestBody {
  private static let chunkSize = 256 << 10

  /// Whether a task must call ``send(on:progress:)`` beside the exchange.
  func needsSender(reporting progress: TransferProgress?) -> Bool {
    switch self {
    case .none: false
    case .data: progress != nil
    case .file: true
    }
  }

  /// Adds the bytes of a file to an exchange, and reports what has been sent, until its end.
  func send(on exchange: HTTPExchange, progress: TransferProgress?) async {
    do {
      switch self {
      case .none: break
      case .data: try await send(on: exchange, progress) { nil }
      case .file(let url, let count):
        let file = try await HTTPThreads.files.run { try FileToSend(url, byteCount: count) }
        defer { file.close() }
        try await send(on: exchange, progress) {
          try await HTTPThreads.files.run { try file.next(Self.chunkSize) }
        }
      }
    } catch {
      exchange.cancel(by: error)
    }
  }

  private func send(
    on exchange: HTTPExchange, _ progress: TransferProgress?,
    _ next: nonisolated(nonsending) () async throws -> [UInt8]?
  ) async throws {
    while let demand = await exchange.nextDemand() {
      if demand.sentCount > 0 { progress?.report(demand.sentCount) }
      if demand.needsBytes { exchange.add(try await next()) }
    }
  }
}

extension HTTPTransferError {
  static func bodyOfNoUse(in request: HTTPRequestSummary) -> HTTPTransferError {
    let problem = "a \(request.method) request has no body: set the httpMethod, such as to PUT"
    return HTTPTransferError(
      HTTPTransportError(.badRequest(problem), wasSent: false), of: request)
  }
}
