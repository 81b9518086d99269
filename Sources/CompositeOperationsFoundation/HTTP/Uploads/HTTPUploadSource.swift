public import Foundation

/// What an upload sends.
public struct HTTPUploadSource: Sendable {
  enum Kind: Sendable {
    case data(Data)
    case file(URL)
    case encoded(@Sendable () throws -> Data)
  }

  let kind: Kind
  /// What is said of the content where the request says nothing.
  let contentType: String

  /// Bytes in memory.
  public static func data(_ data: Data) -> HTTPUploadSource {
    HTTPUploadSource(kind: .data(data), contentType: "application/octet-stream")
  }

  /// What is in a file when the operation runs. It is not kept in memory.
  public static func file(_ url: URL) -> HTTPUploadSource {
    HTTPUploadSource(kind: .file(url), contentType: "application/octet-stream")
  }

  /// The JSON of a value, made when the operation runs. An error of the encoder is the run's.
  ///
  /// - Parameters:
  ///   - value: What is sent.
  ///   - encoder: What writes it. It must not be changed later.
  public static func json(
    _ value: some Encodable & Sendable, with encoder: JSONEncoder = JSONEncoder()
  ) -> HTTPUploadSource {
    HTTPUploadSource(
      kind: .encoded { try encoder.encode(value) }, contentType: "application/json")
  }
}
