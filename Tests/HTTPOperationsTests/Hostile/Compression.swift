import CZlib

/// The formats of `Content-Encoding`, as sizes of the window of zlib.
enum CompressionFormat: Int32 {
  case gzip = 31
  case deflate = 15
  case rawDeflate = -15
}

/// Compresses bytes.
func compressed(_ bytes: [UInt8], _ format: CompressionFormat = .gzip) -> [UInt8] {
  var stream = unsafe z_stream()
  var input = bytes
  let begun = unsafe deflateInit2_(
    &stream, Z_BEST_COMPRESSION, Z_DEFLATED, format.rawValue, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
    Int32(MemoryLayout<z_stream>.size))
  precondition(begun == Z_OK)
  defer { unsafe deflateEnd(&stream) }
  let limit = Int(unsafe deflateBound(&stream, UInt(bytes.count)))
  return unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
    unsafe input.withUnsafeMutableBufferPointer { input in
      unsafe stream.next_in = input.baseAddress
      unsafe stream.avail_in = UInt32(input.count)
      unsafe stream.next_out = buffer.baseAddress
      unsafe stream.avail_out = UInt32(buffer.count)
      let code = unsafe deflate(&stream, Z_FINISH)
      precondition(code == Z_STREAM_END)
    }
    count = limit - Int(unsafe stream.avail_out)
  }
}

func compressed(_ text: String, _ format: CompressionFormat = .gzip) -> [UInt8] {
  compressed(Array(text.utf8), format)
}
