internal import CZlib

/// Decompresses a body in the codings `gzip` and `deflate`, and detects that its end is missing.
@safe final class Inflater: ContentDecoder {
  /// The codings that it can decompress.
  static let codings = ["gzip", "x-gzip", "deflate"]

  private let stream: UnsafeMutablePointer<z_stream>
  private var input: [UInt8] = []
  /// How many bytes of the input have been used.
  private var offset = 0
  private var state = State.new
  /// Whether this is a member after the first, without output yet. It may be other bytes that
  /// follow the data.
  private var isUnproven = false
  private let isGzip: Bool
  /// Whether bytes after the end of the data are ignored.
  private let isLenient: Bool

  private enum State {
    case new
    case inside
    /// At the end of the data, or of a member of it.
    case complete
    /// After the end of the data: zeros, which fill up a block, or bytes that are ignored.
    case padding
  }

  /// - Returns: Nil if it cannot decompress the coding.
  init?(coding: String, isLenient: Bool) {
    guard Self.codings.contains(coding) else { return nil }
    self.isLenient = isLenient
    isGzip = coding != "deflate"
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
  }

  deinit {
    if state != .new { unsafe inflateEnd(stream) }
    unsafe stream.deallocate()
  }

  func end() throws(HTTPTransportError) {
    guard state == .inside else { return }
    if !isUnproven { throw .incompleteBody }
    if !isLenient { throw .surplus }
  }

  func add(_ bytes: [UInt8]) { (input, offset) = (bytes, 0) }

  func next() throws(HTTPTransportError) -> [UInt8]? {
    while offset < input.count || state == .inside {
      // A body may have several members; a coding with another end has nothing after it.
      if state == .padding || state == .complete && !(isGzip && input[offset] == 0x1F) {
        state = .padding
        let rest = input[offset...]
        guard isLenient || isGzip && rest.allSatisfy({ $0 == 0 }) else {
          throw .surplus
        }
        offset = input.count
        return nil
      }
      if state != .inside { try begin() }
      var code: Int32 = 0
      let output = unsafe [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
        unsafe input.withUnsafeMutableBufferPointer { input in
          let rest = input.count - offset
          unsafe stream.pointee.next_in = input.baseAddress.map { unsafe $0 + offset }
          unsafe stream.pointee.avail_in = UInt32(rest)
          unsafe stream.pointee.next_out = buffer.baseAddress
          unsafe stream.pointee.avail_out = UInt32(buffer.count)
          unsafe code = inflate(stream, Z_NO_FLUSH)
          unsafe offset += rest - Int(stream.pointee.avail_in)
          unsafe count = buffer.count - Int(stream.pointee.avail_out)
        }
      }
      if !output.isEmpty { isUnproven = false }
      switch code {
      case Z_STREAM_END: state = .complete
      case Z_OK: break
      // No progress: it needs more input.
      case Z_BUF_ERROR where output.isEmpty: return nil
      case _ where isUnproven:
        if !isLenient { throw .surplus }
        (state, offset) = (.padding, input.count)
        return nil
      default:
        throw error(unsafe stream.pointee.msg.map { unsafe String(cString: $0) } ?? "\(code)")
      }
      if !output.isEmpty { return output }
      if offset == input.count { return nil }
    }
    return nil
  }

  /// Begins the data, or the next member.
  private func begin() throws(HTTPTransportError) {
    if state == .new {
      // 15 is the largest window of the format; with 16 more, it has the header of gzip. Some
      // servers send `deflate` without its header, which a negative number means.
      let hasHeader = input[offset] & 0x0F == 8
      let code = unsafe composite_inflate_begin(stream, isGzip ? 31 : hasHeader ? 15 : -15)
      if code != Z_OK { throw error("zlib cannot be used (\(code))") }
    } else {
      unsafe inflateReset(stream)
      isUnproven = true
    }
    state = .inside
  }

  private func error(_ message: String) -> HTTPTransportError {
    HTTPTransportError(.undecodableBody, message)
  }
}
