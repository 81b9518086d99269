/// A character of a timeline: what goes on at a tick.
enum TimelineMark: Character, Sendable {
  /// A run goes on.
  case passes = "-"
  /// No run goes on.
  case absent = "."
  case result = "r"
  case error = "^"
  /// Ends by cancelling itself.
  case stops = ";"
  /// Is asked to cancel, and does not end at the same tick.
  case asked = "!"
  /// Ends because it is asked to cancel.
  case cancelled = "x"

  /// Whether a run is over with it.
  var isEnd: Bool {
    switch self {
    case .result, .error, .stops, .cancelled: true
    case .passes, .absent, .asked: false
    }
  }
}
