import SystemSupport

/// The file with the token of the page, in its first line.
package enum TokenFile {
  /// The most bytes that are read.
  private static let limit = 4_096
  private static let advice = "`head -c 24 /dev/urandom | base64` prints one"

  /// Reads the token.
  ///
  /// - Parameter minimum: The minimum number of bytes.
  /// - Throws: A ``TokenFileError`` if the file cannot be read, if other users may use it, or if its
  ///   first line is not a token that a header can contain.
  package static func token(in path: String, minimum: Int) throws -> String {
    let name = "the token file \(path.escapedForShell)"
    let bytes: [UInt8]
    do {
      let file = OwnedFileDescriptor(try FileDescriptor.open(path, .readOnly))
      let status = try file.descriptor.status
      guard status.kind == .file else {
        throw TokenFileError("\(name) is not a file; put the token into one; \(advice)")
      }
      // As ssh does with keys, and also for files of other users than root.
      let others = status.permissions.intersection(status.owner == 0 ? 0o037 : 0o077)
      if !others.isEmpty {
        let mode = String(status.permissions.rawValue, radix: 8)
        throw TokenFileError(
          "\(name) has the permissions \(mode), so other users may use it; "
            + "run `chmod 600 \(path.quotedForShell)`")
      }
      guard let line = try firstLine(of: file.descriptor) else {
        throw TokenFileError(
          "\(name) has no line feed in its first \(limit.grouped) bytes; \(advice)")
      }
      bytes = line
    } catch let error as SystemError {
      if error.isMissing {
        let file = path.quotedForShell
        throw TokenFileError(
          "\(name) does not exist; `(umask 077; head -c 24 /dev/urandom | base64 >\(file))` makes it"
        )
      }
      throw TokenFileError("\(name): \(error)")
    }
    if bytes.isEmpty {
      throw TokenFileError("\(name) has no token in its first line; \(advice)")
    }
    if let position = bytes.firstIndex(where: { !(0x21...0x7E).contains($0) }) {
      let number = String(bytes[position], radix: 16, uppercase: true)
      throw TokenFileError(
        "\(name) has the byte 0x\(number.count < 2 ? "0" : "")\(number) at position \(position) of "
          + "its first line; a token has visible ASCII characters and no spaces; \(advice)")
    }
    if bytes.count < minimum {
      throw TokenFileError(
        "\(name) has a token of \(bytes.count.counted("byte")); expected at least \(minimum); "
          + advice)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Reads up to the first line feed, which may follow a carriage return; nil if that is too far.
  private static func firstLine(of file: FileDescriptor) throws(SystemError) -> [UInt8]? {
    var line: [UInt8] = []
    var block = [UInt8](repeating: 0, count: limit)
    while line.count < limit, !line.contains(UInt8(ascii: "\n")) {
      let count = try file.read(into: &block)
      if count == 0 { break }
      line += block[..<count]
    }
    let bytes = line.prefix { $0 != UInt8(ascii: "\n") }
    if bytes.count >= limit { return nil }
    return Array(bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes)
  }
}

/// An error in the use of a token file.
package struct TokenFileError: Error, CustomStringConvertible {
  package let description: String

  fileprivate init(_ description: String) { self.description = description }
}
