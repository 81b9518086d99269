/// The decompression of one body by a library.
protocol DecompressionStream: AnyObject {
  /// Whether another frame may follow the end of one.
  var hasFrames: Bool { get }
  /// Decompresses a part of the input, to at most 64 KiB.
  func decompress(_ input: ArraySlice<UInt8>) -> DecompressionStep
}
