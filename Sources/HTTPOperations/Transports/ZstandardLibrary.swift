/// The functions of libzstd (`zstd.h`).
@safe struct ZstandardLibrary: Sendable {
  static let shared = ZstandardLibrary()

  /// The layout of `ZSTD_inBuffer` and `ZSTD_outBuffer`.
  @unsafe struct Buffer {
    var start: UnsafeMutableRawPointer?
    var size: Int
    var position = 0
  }

  typealias Create = @Sendable @convention(c) () -> OpaquePointer?
  typealias Destroy = @Sendable @convention(c) (OpaquePointer) -> Int
  typealias SetParameter = @Sendable @convention(c) (OpaquePointer, Int32, Int32) -> Int
  /// The state, the output and the input, two values of `Buffer`.
  typealias Decompress =
    @Sendable @convention(c) (
      OpaquePointer, UnsafeMutableRawPointer, UnsafeMutableRawPointer
    ) -> Int
  typealias IsError = @Sendable @convention(c) (Int) -> UInt32
  typealias ErrorName = @Sendable @convention(c) (Int) -> UnsafePointer<CChar>?

  let create: Create
  let destroy: Destroy
  let setParameter: SetParameter
  let decompress: Decompress
  let isError: IsError
  let errorName: ErrorName

  private init?() {
    guard let library = DecompressionLibrary("libzstd.so.1"),
      let create = unsafe library.function("ZSTD_createDStream", as: Create.self),
      let destroy = unsafe library.function("ZSTD_freeDStream", as: Destroy.self),
      let setParameter = unsafe library.function("ZSTD_DCtx_setParameter", as: SetParameter.self),
      let decompress = unsafe library.function("ZSTD_decompressStream", as: Decompress.self),
      let isError = library.function("ZSTD_isError", as: IsError.self),
      let errorName = unsafe library.function("ZSTD_getErrorName", as: ErrorName.self)
    else { return nil }
    unsafe (self.create, self.destroy, self.setParameter) = (create, destroy, setParameter)
    unsafe (self.decompress, self.isError, self.errorName) = (decompress, isError, errorName)
  }
}
