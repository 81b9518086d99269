internal import CompositeOperations
internal import SystemSupport

/// The SHA-256 that a downloaded file must have, and the hash of the bytes in it.
///
/// The caller makes one call at a time.
final class DownloadHash: Sendable {
  /// 64 hexadecimal digits in lower case.
  let expected: String
  private let hash = Lock(ContentHash())

  /// - Parameter expected: The hash in any case; nil if it is not checked.
  /// - Returns: Nil if the hash is not checked.
  /// - Throws: An error that names the file if the expected hash is malformed.
  init?(_ expected: String?, ofFile path: String) throws(FileError) {
    guard let expected else { return nil }
    let isValid = expected.utf8.count == 64 && expected.utf8.allSatisfy { $0.isHexadecimalDigit }
    guard isValid else {
      let excerpt = String(expected.prefix(80))
      throw FileError(
        path, "cannot be checked",
        because:
          "the expected SHA-256 must have 64 hexadecimal digits (was \(excerpt.debugDescription), "
          + "\(expected.count) characters).")
    }
    self.expected = expected.lowercased()
  }

  func append(_ bytes: Span<UInt8>) { hash.withLock { $0.append(bytes) } }

  /// Forgets all bytes, because the file is emptied.
  func restart() { hash.withLock { $0 = ContentHash() } }

  /// Whether the bytes have the expected hash.
  var isMatched: Bool { hash.withLock { $0.text } == expected }

  /// Compares the bytes with the expected hash.
  ///
  /// - Parameters:
  ///   - path: The destination.
  ///   - isDirect: Whether the bytes are there already, because it is a device or a pipe.
  /// - Returns: The error that names both hashes; nil if they are the same.
  func mismatch(ofFile path: String, isDirect: Bool) -> FileError? {
    let found = hash.withLock { $0.text }
    if found == expected { return nil }
    let state =
      isDirect
      ? "Its bytes have been written there: do not use them."
      : "The download was removed, and the destination is unchanged."
    var error = FileError(
      path, "does not have the expected contents",
      because: "the SHA-256 of the download is \(found), and \(expected) was expected. \(state) "
        + "Download it again. If its hash is the same then, "
        + "compare both with the source of the file.")
    error.foundSHA256 = found
    return error
  }
}

extension UInt8 {
  fileprivate var isHexadecimalDigit: Bool {
    (0x30...0x39).contains(self) || (0x61...0x66).contains(self | 0x20)
  }
}
