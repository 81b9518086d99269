public import Foundation

/// The body of an upload: data, a file, or a value as JSON.
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
    case encoded(@Sendable () throws -> Data)
  }

  let kind: Kind
  /// The `Content-Type`, if the request has none.
  let contentType: String

  /// Bytes in memory.
  public static func data(_ data: Data) -> HTTPUploadSource {
    HTTPUploadSource(kind: .data(data), contentType: "application/octet-stream")
  }

  /// The contents of a file when the operation runs. They are not kept in memory.
  public static func file(_ url: URL) -> HTTPUploadSource {
    HTTPUploadSource(kind: .file(url), contentType: "application/octet-stream")
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
