/// The measurement of one run of a way.
struct Sample: Sendable {
  /// Nanoseconds or bytes of the whole run, according to the unit of the shape.
  let amount: Double
  /// A sum of the results, which must be equal for all ways of a shape.
  let checksum: UInt64
}
