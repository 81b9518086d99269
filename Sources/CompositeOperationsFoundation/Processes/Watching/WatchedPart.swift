/// The parts of a process that are watched.
enum WatchedPart: UInt64 {
  case end
  case output
  case errorOutput
  case input

  /// The token that identifies the part when it is ready.
  func token(of identifier: UInt64) -> UInt64 { identifier << 2 | rawValue }

  static func parts(of token: UInt64) -> (identifier: UInt64, part: WatchedPart) {
    // Two bits have four values.
    (token >> 2, WatchedPart(rawValue: token & 3) ?? .end)
  }
}
