public import Foundation

/// The body of an upload: data, a file, a form, a sequence of bytes, or a value as JSON.
///
/// ```swift
/// import HTTPOperations
///
/// let issue = HTTPUploadSource.json(["title": "It does not work"])
/// let upload = HTTPUploadOperation(url, method: "POST", from: issue)
/// ```
public struct HTTPUploadSource: Sendable {
  enum Kind: Sendable {
    case data(Data)
    case file(URL)
    case form([HTTPFormPart], boundary: String)
    case encoded(@Sendable () throws -> Data)
    case stream(HTTPRequestBody.Stream, byteCount: Int?)
  }

  let kind: Kind
  /// The `Content-Type`, if the request has none.
  let contentType: String
  /// Whether the body cannot be read with another `Content-Type`.
  var requiresContentType: Bool { if case .form = kind { true } else { false } }

  /// Bytes in memory.
  public static func data(_ data: Data) -> HTTPUploadSource {
    HTTPUploadSource(kind: .data(data), contentType: "application/octet-stream")
  }

  /// The contents of a file when the operation runs. They are not kept in memory.
  public static func file(_ url: URL) -> HTTPUploadSource {
    HTTPUploadSource(kind: .file(url), contentType: "application/octet-stream")
  }

  /// The bytes of an asynchronous sequence, sent as they arrive. An error of the sequence is the
  /// error of the run.
  ///
  /// ```swift
  /// import HTTPOperations
  ///
  /// let log = HTTPUploadOperation(
  ///   url, method: "POST", from: .stream { AsyncStream(unfolding: { await nextLines() }) })
  /// ```
  ///
  /// - Parameters:
  ///   - byteCount: The number of bytes; nil if it is unknown. Another number is an error.
  ///   - contentType: The `Content-Type`, if the request has none.
  ///   - makeSequence: Creates the sequence, for every attempt and every redirect.
  public static func stream<Bytes: AsyncSequence & SendableMetatype>(
    byteCount: Int? = nil, contentType: String = "application/octet-stream",
    _ makeSequence: @escaping @Sendable () -> Bytes
  ) -> HTTPUploadSource where Bytes.Element == [UInt8], Bytes.AsyncIterator: SendableMetatype {
    let stream: HTTPRequestBody.Stream = {
      var iterator = makeSequence().makeAsyncIterator()
      return { try await iterator.next(isolation: #isolation) }
    }
    return HTTPUploadSource(
      kind: .stream(stream, byteCount: byteCount), contentType: contentType)
  }

  /// A value as JSON, encoded when the operation runs. An error of the encoder is the error of the
  /// run.
  ///
  /// - Parameters:
  ///   - value: The value to encode.
  ///   - encoder: The encoder. Do not change it after this call.
  public static func json(
    _ value: some Encodable & Sendable, with encoder: JSONEncoder = JSONEncoder()
  ) -> HTTPUploadSource {
    HTTPUploadSource(
      kind: .encoded { try encoder.encode(value) }, contentType: "application/json")
  }
}
