/// A character of a timeline: the state of an operation at a tick.
enum TimelineMark: Character, Sendable {
  /// A run is in flight.
  case passes = "-"
  /// No run is in flight.
  case absent = "."
  case result = "r"
  case error = "^"
  /// The run cancels itself.
  case stops = ";"
  /// The run is asked to cancel, and does not end at the same tick.
  case asked = "!"
  /// The run ends because it was asked to cancel.
  case cancelled = "x"

  /// Whether the mark ends a run.
  var isEnd: Bool {
    switch self {
    case .result, .error, .stops, .cancelled: true
    case .passes, .absent, .asked: false
    }
  }
}
