/// The unit of a shape's figures.
enum Unit: String, Sendable, Encodable {
  case nanosecondsPerOperation = "ns per operation"
  case nanosecondsPerEvent = "ns per event"
  /// The wall time of a whole run.
  case milliseconds = "ms"
  case bytesPerOperation = "bytes per operation"
  case bytesPerRun = "bytes per run"
  case stepsPerSecond = "steps/s"

  /// Whether figures are times.
  var isTime: Bool {
    switch self {
    case .nanosecondsPerOperation, .nanosecondsPerEvent, .milliseconds: true
    case .bytesPerOperation, .bytesPerRun, .stepsPerSecond: false
    }
  }

  /// Returns the figure for the amount of a run.
  func figure(of amount: Double, operations: Int) -> Double {
    switch self {
    case .nanosecondsPerOperation, .nanosecondsPerEvent, .bytesPerOperation, .bytesPerRun:
      amount / Double(operations)
    case .milliseconds: amount / 1_000_000
    case .stepsPerSecond: Double(operations) / amount * 1e9
    }
  }
}
