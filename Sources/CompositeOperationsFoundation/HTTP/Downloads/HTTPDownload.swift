public import Foundation

/// A downloaded file.
public struct HTTPDownload: Sendable, Hashable {
  /// The URL of the file.
  public let file: URL
  /// The size of the file in bytes; for a device or a pipe, how many bytes were written.
  public let byteCount: Int
  /// How many of them came from an earlier, interrupted download.
  public let resumedByteCount: Int
  /// The head of the last response.
  public let head: HTTPResponseHead
}
