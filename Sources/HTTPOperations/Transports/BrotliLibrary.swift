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
