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
  case form(HTTPFormBody)
  case stream(Stream, byteCount: Int?)

  /// Returns a function that returns the next bytes of a body; nil at its end.
  typealias Stream = @Sendable () -> (() async throws -> [UInt8]?)

  /// The number of bytes; nil if it is unknown.
  var byteCount: Int? {
    switch self {
    case .none: 0
    case .data(let data): data.count
    case .file(_, let count): count
    case .form(let form): form.byteCount
    case .stream(_, let count): count
    }
  }

  /// Whether interceptors do not see it, because it is not in memory.
  var isOutsideRequest: Bool {
    switch self {
    case .none, .data: false
    case .file, .form, .stream: true
    }
  }

  var forTransport: HTTPTransportRequest.Body {
    switch self {
    case .none: .none
    case .data(let data): .bytes([UInt8](data))
    case .file(let url, let count): .stream(byteCount: count, file: url)
    case .form(let form): .stream(byteCount: form.byteCount, file: nil)
    case .stream(_, let count): .stream(byteCount: count, file: nil)
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
    case .file, .form, .stream: true
    }
  }

  /// Adds the bytes of files or of a sequence to an exchange, and reports what has been sent, until
  /// its end.
  func send(on exchange: HTTPExchange, progress: TransferProgress?) async {
    do {
      switch self {
      case .none: break
      case .data: try await send(on: exchange, progress) { nil }
      case .stream(let stream, let count):
        let next = stream()
        var rest = count
        try await send(on: exchange, progress) {
          let bytes = try await exchange.whileHeld { try await next() }
          rest = rest.map { $0 - (bytes?.count ?? 0) }
          if let rest, rest < 0 || rest > 0 && bytes == nil {
            throw HTTPTransportError(
              .badRequest("its body has another length than it was announced with"))
          }
          return bytes
        }
      case .file(let url, let count):
        let file = FileToSend(url, byteCount: count)
        defer { file.close() }
        try await send(on: exchange, progress) {
          try await HTTPThreads.files.run { try file.next(Self.chunkSize) }
        }
      case .form(let form):
        let reader = HTTPFormReader(form)
        defer { reader.close() }
        try await send(on: exchange, progress) {
          try await HTTPThreads.files.run { try reader.next(Self.chunkSize) }
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
