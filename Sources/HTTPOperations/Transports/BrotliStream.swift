/// The functions of libbrotlidec (`brotli/decode.h`).
@safe struct BrotliLibrary: Sendable {
  static let shared = BrotliLibrary()

  typealias Create =
    @Sendable @convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> OpaquePointer?
  typealias Destroy = @Sendable @convention(c) (OpaquePointer) -> Void
  /// The state, the size and the start of the rest of the input, and of the output, and the size of
  /// all output. They are updated.
  typealias Decompress =
    @Sendable @convention(c) (
      OpaquePointer, UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafePointer<UInt8>?>,
      UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
      UnsafeMutablePointer<Int>?
    ) -> Int32
  typealias ErrorCode = @Sendable @convention(c) (OpaquePointer) -> Int32
  typealias ErrorText = @Sendable @convention(c) (Int32) -> UnsafePointer<CChar>?

  let create: Create
  let destroy: Destroy
  let decompress: Decompress
  let errorCode: ErrorCode
  let errorText: ErrorText

  private init?() {
    guard let library = DecompressionLibrary("libbrotlidec.so.1"),
      let create = unsafe library.function("BrotliDecoderCreateInstance", as: Create.self),
      let destroy = unsafe library.function("BrotliDecoderDestroyInstance", as: Destroy.self),
      let decompress = unsafe library.function(
        "BrotliDecoderDecompressStream", as: Decompress.self),
      let errorCode = unsafe library.function("BrotliDecoderGetErrorCode", as: ErrorCode.self),
      let errorText = unsafe library.function("BrotliDecoderErrorString", as: ErrorText.self)
    else { return nil }
    unsafe (self.create, self.destroy, self.decompress) = (create, destroy, decompress)
    unsafe (self.errorCode, self.errorText) = (errorCode, errorText)
  }
}

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
