internal import CompositeOperations
internal import Foundation

/// The body of a form, with the sizes of its files.
struct HTTPFormBody: Sendable {
  fileprivate enum Piece: Sendable {
    case bytes([UInt8])
    case file(URL, byteCount: Int)
  }

  fileprivate let boundary: String
  fileprivate private(set) var pieces: [Piece] = []
  private(set) var byteCount = 0

  /// Determines the sizes of the files, on a thread that may block.
  init(_ parts: [HTTPFormPart], boundary: String) throws(FileError) {
    self.boundary = boundary
    var bytes: [UInt8] = []
    for part in parts {
      bytes += part.head(boundary).utf8
      switch part.content {
      case .bytes(let content): bytes += content
      case .file(let url):
        let size = try FileToSend.size(of: url)
        pieces += [.bytes(bytes), .file(url, byteCount: size)]
        byteCount += bytes.count + size
        bytes = []
      }
      bytes += "\r\n".utf8
    }
    bytes += "--\(boundary)--\r\n".utf8
    pieces.append(.bytes(bytes))
    byteCount += bytes.count
  }
}

/// Reads the bytes of a form, on a thread that may block. One call is made at a time.
final class HTTPFormReader: Sendable {
  private struct State: Sendable {
    /// The number of the next piece.
    var index = 0
    /// The file of the current piece.
    var file: FileToSend?
    /// The path of the file.
    var path = ""
    /// The last bytes of the file that were read.
    var end: [UInt8] = []
  }

  private let body: HTTPFormBody
  /// What the contents of a file must not have.
  private let delimiter: [UInt8]
  private let state = Lock(State())

  init(_ body: HTTPFormBody) {
    self.body = body
    delimiter = Array("--\(body.boundary)".utf8)
  }

  /// - Returns: Nil at the end.
  func next(_ limit: Int) throws(FileError) -> [UInt8]? {
    var state = state.withLock { $0 }
    defer { self.state.withLock { $0 = state } }
    while true {
      if let file = state.file {
        if let bytes = try file.next(limit) {
          try check(bytes, &state)
          return bytes
        }
        file.close()
        state.file = nil
      }
      guard state.index < body.pieces.count else { return nil }
      state.index += 1
      switch body.pieces[state.index - 1] {
      case .bytes(let bytes): return bytes
      case .file(let url, let byteCount):
        state.file = FileToSend(url, byteCount: byteCount, mayGrow: false)
        (state.path, state.end) = (url.path, [])
      }
    }
  }

  /// Checks that a file does not contain the delimiter. The boundary is random, but the contents
  /// may be from a server that has received it in an earlier request.
  private func check(_ bytes: [UInt8], _ state: inout State) throws(FileError) {
    let seam = state.end + bytes.prefix(delimiter.count)
    state.end = Array((bytes.count < delimiter.count ? seam : bytes).suffix(delimiter.count))
    guard contains(seam) || contains(bytes) else { return }
    throw FileError(
      state.path, "cannot be sent",
      because: "it contains the boundary of the form. Create another HTTPUploadSource.")
  }

  private func contains(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while rest.count >= delimiter.count {
      let start = unsafe rest.withUnsafeBytes { rest -> Int? in
        guard let base = rest.baseAddress,
          let dash = unsafe memchr(base, Int32(UInt8(ascii: "-")), rest.count)
        else { return nil }
        return unsafe UnsafeRawPointer(dash) - base
      }
      guard let start else { return false }
      rest = rest.dropFirst(start)
      if rest.starts(with: delimiter) { return true }
      rest = rest.dropFirst()
    }
    return false
  }

  func close() { state.withLock { $0.file.take() }?.close() }
}
