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

/// Decompresses a body in the coding `zstd` (RFC 8878).
@safe final class ZstandardStream: DecompressionStream {
  /// `ZSTD_d_windowLogMax`.
  private static let windowParameter: Int32 = 100
  /// RFC 9659: a body for HTTP needs a window of at most 8 MiB.
  private static let windowLog: Int32 = 23

  private let library: ZstandardLibrary
  private let state: OpaquePointer

  /// - Returns: Nil if the library is not installed.
  init?() {
    guard let library = ZstandardLibrary.shared, let state = unsafe library.create() else {
      return nil
    }
    self.library = library
    unsafe self.state = state
    _ = unsafe library.setParameter(state, Self.windowParameter, Self.windowLog)
  }

  deinit { _ = unsafe library.destroy(state) }

  var hasFrames: Bool { true }

  func decompress(_ input: ArraySlice<UInt8>) -> DecompressionStep {
    var code = 0
    var used = 0
    let size = 64 << 10
    let output = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      unsafe input.withUnsafeBufferPointer { input in
        // The library only reads the input.
        var source = unsafe ZstandardLibrary.Buffer(
          start: UnsafeMutableRawPointer(mutating: input.baseAddress), size: input.count)
        var target = unsafe ZstandardLibrary.Buffer(
          start: UnsafeMutableRawPointer(buffer.baseAddress), size: size)
        code = unsafe library.decompress(state, &target, &source)
        (used, count) = unsafe (source.position, target.position)
      }
    }
    let result: DecompressionStep.Result =
      if library.isError(code) != 0 {
        .failed(unsafe library.errorName(code).map { unsafe String(cString: $0) } ?? "\(code)")
      } else if code == 0 {
        .ended
      } else {
        output.count == size || used < input.count ? .hasMore : .needsInput
      }
    return DecompressionStep(result: result, used: used, output: output)
  }
}
