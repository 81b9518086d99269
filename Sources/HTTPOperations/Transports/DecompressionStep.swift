/// The outcome of one call of a library that decompresses.
struct DecompressionStep {
  enum Result {
    /// Another call may give more output without more input.
    case hasMore
    case needsInput
    case ended
    case failed(String)
  }

  var result: Result
  /// How many bytes of the input were used.
  var used: Int
  var output: [UInt8]
}
