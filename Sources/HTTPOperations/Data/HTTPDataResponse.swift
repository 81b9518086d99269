public import CompositeOperations
public import Foundation

/// An HTTP response with its body.
public struct HTTPDataResponse: Sendable, Hashable {
  /// The head of the response.
  public let head: HTTPResponseHead
  /// The body of the response.
  public let body: Data
  /// Whether the body is from an ``HTTPCache``, because the server has answered that it is still
  /// current. The status is 200 then, and the headers are the kept ones, updated by the 304.
  public let isNotModified: Bool
  /// The request, for errors of decoding.
  let request: HTTPRequestSummary

  /// The URL of the response, after redirects.
  public var url: URL { head.url }
  /// The status code of the response.
  public var status: Int { head.status }
  /// The headers of the response.
  public var headers: HTTPHeaders { head.headers }

  /// - Parameter request: The request, after redirects.
  init(
    head: HTTPResponseHead, body: Data, request: HTTPRequestSummary, isNotModified: Bool = false
  ) {
    self.head = head
    self.body = body
    self.isNotModified = isNotModified
    self.request = request
  }
}

extension ComposableOperation where Success == HTTPDataResponse {
  /// Decodes the body of the response from JSON.
  ///
  /// ```swift
  /// import HTTPOperations
  ///
  /// let names = HTTPDataOperation(url).decoding([String].self)
  /// ```
  ///
  /// The error is an ``HTTPDecodingError``, which names the place of the mismatch in the body.
  /// `Data` is decoded like any other type, from a JSON string; for the raw bytes use
  /// ``HTTPDataResponse/body``.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - decoder: The decoder. Do not change it after this call.
  public func decoding<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self, with decoder: JSONDecoder = JSONDecoder()
  ) -> some ComposableOperation<Value> {
    map { response in try response.decoded(type, with: decoder) }
  }
}

extension HTTPDataResponse {
  /// Decodes the body from JSON.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - decoder: The decoder.
  /// - Returns: The decoded value.
  /// - Throws: ``HTTPDecodingError`` if the body cannot be decoded.
  public func decoded<Value: Decodable>(
    _ type: Value.Type = Value.self, with decoder: JSONDecoder = JSONDecoder()
  ) throws(HTTPDecodingError) -> Value {
    do {
      return try decoder.decode(type, from: body)
    } catch {
      // The body of the response to a login contains a token.
      let shown = RunningLogin.isCurrent ? Data() : body.prefix(4_096)
      throw HTTPDecodingError(
        request: request, head: head, body: shown, expected: "\(type)", cause: error)
    }
  }
}

extension ComposableOperation where Success: Encodable {
  /// Encodes the result to JSON.
  ///
  /// ```swift
  /// import HTTPOperations
  ///
  /// let sent = SimpleOperation { ["title": "It does not work"] }
  ///   .encoding()
  ///   .then { HTTPUploadOperation(url, method: "POST", from: .data($0)) }
  /// ```
  ///
  /// An error of the encoder is the error of the run.
  ///
  /// - Parameter encoder: The encoder. Do not change it after this call.
  public func encoding(with encoder: JSONEncoder = JSONEncoder()) -> some ComposableOperation<Data>
  {
    map { value in try encoder.encode(value) }
  }
}
