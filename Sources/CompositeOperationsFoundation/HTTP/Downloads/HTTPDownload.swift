public import Foundation

/// A file that was downloaded.
public struct HTTPDownload: Sendable, Hashable {
  /// Where the file is.
  public let file: URL
  /// How many bytes it has; for what is no file, how many were written.
  public let byteCount: Int
  /// How many of them were there already, from a download that did not come to its end.
  public let resumedByteCount: Int
  /// The last response.
  public let head: HTTPResponseHead
}
