#if canImport(FoundationNetworking)
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// Changes the requests of a session before they are sent, and decides whether a request that the
/// server refused is sent again.
///
/// ```swift
/// import FoundationNetworking
/// import HTTPOperations
///
/// struct ClientVersion: HTTPInterceptor {
///   func willSend(_ request: URLRequest) async throws -> URLRequest {
///     var request = request
///     request.setValue("4.2", forHTTPHeaderField: "X-Client-Version")
///     return request
///   }
/// }
///
/// let session = HTTPSession(interceptors: [ClientVersion()])
/// ```
///
/// A session calls ``willSend(_:)`` of its interceptors in the order of their list, for every
/// request that it sends: for each redirect and each repetition, too. What they set is in that
/// request only. A request that is redirected begins again without it, so nothing that they add to
/// a request reaches another server.
///
/// If the status of the response is 400 or more, it calls ``shouldSendAgain(_:after:repetition:)``
/// in the reverse order, until an interceptor returns true. A request is sent again at most 3
/// times. After that, its response is an error as without interceptors.
///
/// An error of an interceptor is the error of the request. If it is an ``HTTPRequestError``, it
/// determines whether `retryingHTTP` sends the request again. After the request was sent, it does
/// so only if the request may be repeated; otherwise the error is an ``HTTPInterceptorError``,
/// which contains that of the interceptor.
///
/// Interceptors run in the task of the operation, so a cancellation of the operation cancels them.
/// They hold no connection while they wait, so they can send requests of their own, also with the
/// same session. An interceptor must then leave those requests alone, or it waits for itself.
///
/// Both methods have a default implementation.
public protocol HTTPInterceptor: Sendable {
  /// Changes a request that is about to be sent.
  ///
  /// It may change headers, the path and the query. It may replace the `httpBody`, which is the
  /// body if that is in memory; files, forms and sequences are not in the request. Setting an
  /// `httpBody` in place of one of those, or changing the method or the server (scheme, host or
  /// port), ends the request in an ``HTTPTransferError``.
  ///
  /// - Parameter request: The request, with the headers of the session.
  /// - Returns: The request to send.
  /// - Throws: An error that ends the request.
  func willSend(_ request: URLRequest) async throws -> URLRequest

  /// Decides whether to send a request again.
  ///
  /// The server has received the request. Return true for a request that is not idempotent, such as
  /// a POST, only if the status says that it was not processed.
  ///
  /// - Parameters:
  ///   - request: The request as it was sent, without its body.
  ///   - response: A response whose status is 400 or more.
  ///   - repetition: The number of the repetition among those that this interceptor requests, from
  ///     1.
  /// - Returns: Whether to send the request again.
  /// - Throws: An error that ends the request.
  func shouldSendAgain(
    _ request: URLRequest, after response: HTTPResponseHead, repetition: Int
  ) async throws -> Bool
}

extension HTTPInterceptor {
  /// Returns the request unchanged.
  ///
  /// - Parameter request: The request.
  /// - Returns: The same request.
  public func willSend(_ request: URLRequest) async throws -> URLRequest { request }

  /// Returns false.
  ///
  /// - Parameters:
  ///   - request: The request as it was sent, without its body.
  ///   - response: The response.
  ///   - repetition: The number of the repetition.
  /// - Returns: False.
  public func shouldSendAgain(
    _ request: URLRequest, after response: HTTPResponseHead, repetition: Int
  ) async throws -> Bool { false }
}

/// Counts how often interceptors have had a request sent again.
struct HTTPRepetitions {
  private static let limit = 3

  private let interceptors: [any HTTPInterceptor]
  /// How often each of them has had it sent again.
  private var counts: [Int]

  init(by interceptors: [any HTTPInterceptor]) {
    self.interceptors = interceptors
    counts = interceptors.map { _ in 0 }
  }

  /// Asks the interceptors whether a request is sent again, and counts it if so.
  ///
  /// - Parameter refusal: The response to the request.
  mutating func areRequested(
    for request: URLRequest, after refusal: HTTPStatusError
  ) async throws -> Bool {
    do {
      return try await isOneRequested(for: request, after: refusal.head)
    } catch {
      throw HTTPInterceptorError.error(of: refusal.request, for: error)
    }
  }

  private mutating func isOneRequested(
    for request: URLRequest, after head: HTTPResponseHead
  ) async throws -> Bool {
    let count = counts.reduce(0, +)
    guard count < Self.limit else { return false }
    for index in interceptors.indices.reversed() {
      let repetition = counts[index] + 1
      let interceptor = interceptors[index]
      if try await interceptor.shouldSendAgain(request, after: head, repetition: repetition) {
        counts[index] = repetition
        return true
      }
    }
    return false
  }
}
