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
