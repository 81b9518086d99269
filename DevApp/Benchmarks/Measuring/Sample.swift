/// What one run of a way came to.
struct Sample: Sendable {
  /// Nanoseconds or bytes for the whole run, as the shape's unit says.
  let amount: Double
  /// A sum that all ways of a shape must agree on.
  let checksum: UInt64
}
