public import CompositeOperations
public import Foundation

extension ComposableOperation where Success == HTTPDataResponse {
  /// The value that the body of the response is the JSON of.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let names = HTTPDataOperation(url).decoding([String].self)
  /// ```
  ///
  /// Its error is an ``HTTPDecodingError``, which says where in the body something else was found. `Data` is
  /// decoded too: it is a string in JSON. Who wants the body as it is takes ``HTTPDataResponse/body``.
  ///
  /// - Parameters:
  ///   - type: What is expected.
  ///   - decoder: What reads it. It must not be changed later.
  public func decoding<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self, with decoder: JSONDecoder = JSONDecoder()
  ) -> some ComposableOperation<Value> {
    map { response in try response.decoded(type, with: decoder) }
  }
}

extension HTTPDataResponse {
  /// The value that the body is the JSON of.
  ///
  /// - Parameters:
  ///   - type: What is expected.
  ///   - decoder: What reads it.
  /// - Throws: ``HTTPDecodingError`` if the body is something else.
  public func decoded<Value: Decodable>(
    _ type: Value.Type = Value.self, with decoder: JSONDecoder = JSONDecoder()
  ) throws(HTTPDecodingError) -> Value {
    do {
      return try decoder.decode(type, from: body)
    } catch {
      throw HTTPDecodingError(
        request: request, head: head, body: body.prefix(4_096), expected: "\(type)", cause: error)
    }
  }
}

extension ComposableOperation where Success: Encodable {
  /// The JSON of the result, as bytes.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let sent = SimpleOperation { ["title": "It does not work"] }
  ///   .encoding()
  ///   .then { HTTPUploadOperation(url, method: "POST", from: .data($0)) }
  /// ```
  ///
  /// An error of the encoder is the run's.
  ///
  /// - Parameter encoder: What writes it. It must not be changed later.
  public func encoding(with encoder: JSONEncoder = JSONEncoder()) -> some ComposableOperation<Data>
  {
    map { value in try encoder.encode(value) }
  }
}
