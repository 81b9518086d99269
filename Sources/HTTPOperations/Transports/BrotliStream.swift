/// Decompresses a body in the coding `br` (RFC 7932), whose window has at most 16 MiB.
@safe final class BrotliStream: DecompressionStream {
  private let library: BrotliLibrary
  private let state: OpaquePointer

  /// - Returns: Nil if the library is not installed.
  init?() {
    guard let library = BrotliLibrary.shared,
      let state = unsafe library.create(nil, nil, nil)
    else { return nil }
    self.library = library
    unsafe self.state = state
  }

  deinit { unsafe library.destroy(state) }

  var hasFrames: Bool { false }

  func decompress(_ input: ArraySlice<UInt8>) -> DecompressionStep {
    var code: Int32 = 0
    var used = 0
    let output = unsafe [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
      unsafe input.withUnsafeBufferPointer { input in
        var (left, start) = (input.count, input.baseAddress)
        var (room, end) = (buffer.count, buffer.baseAddress)
        code = unsafe library.decompress(state, &left, &start, &room, &end, nil)
        used = input.count - left
        count = buffer.count - room
      }
    }
    let result: DecompressionStep.Result =
      switch code {
      case 1: .ended
      case 2: .needsInput
      case 3: .hasMore
      default: .failed(message)
      }
    return DecompressionStep(result: result, used: used, output: output)
  }

  private var message: String {
    let code = unsafe library.errorCode(state)
    return unsafe library.errorText(code).map { unsafe String(cString: $0) } ?? "\(code)"
  }
}
