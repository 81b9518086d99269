/// The unit of a shape's figures.
enum Unit: String, Sendable, Encodable {
  case nanosecondsPerOperation = "ns per operation"
  case nanosecondsPerEvent = "ns per event"
  /// The wall time of a whole run.
  case milliseconds = "ms"
  /// The time of one operation, also as a percentile.
  case microseconds = "µs"
  case bytesPerOperation = "bytes per operation"
  case bytesPerRun = "bytes per run"
  case stepsPerSecond = "steps/s"
  /// Of an idle program, in a time of as many seconds as the shape has operations.
  case statementsPerSecond = "statements/s"
  case requestsPerSecond = "requests/s"
  case recordsPerSecond = "records/s"
  /// Megabytes of 1,000,000 bytes, of which an operation receives one.
  case megabytesPerSecond = "MB/s"

  /// Whether figures are times.
  var isTime: Bool {
    switch self {
    case .nanosecondsPerOperation, .nanosecondsPerEvent, .milliseconds, .microseconds: true
    case .bytesPerOperation, .bytesPerRun, .statementsPerSecond: false
    case .stepsPerSecond, .requestsPerSecond, .recordsPerSecond, .megabytesPerSecond: false
    }
  }

  /// Whether a larger figure is better.
  var isRate: Bool {
    switch self {
    case .stepsPerSecond, .requestsPerSecond, .recordsPerSecond, .megabytesPerSecond: true
    case .nanosecondsPerOperation, .nanosecondsPerEvent, .milliseconds, .microseconds: false
    case .bytesPerOperation, .bytesPerRun, .statementsPerSecond: false
    }
  }

  /// Returns a number that is proportional to the time, or the memory, of a figure.
  func cost(of figure: Double) -> Double { isRate ? 1 / figure : figure }

  /// Returns the figure for the amount of a run.
  func figure(of amount: Double, operations: Int) -> Double {
    switch self {
    case .nanosecondsPerOperation, .nanosecondsPerEvent, .bytesPerOperation, .bytesPerRun,
      .statementsPerSecond:
      amount / Double(operations)
    case .milliseconds: amount / 1_000_000
    case .microseconds: amount / 1_000
    case .stepsPerSecond, .requestsPerSecond, .recordsPerSecond, .megabytesPerSecond:
      Double(operations) / amount * 1e9
    }
  }
}
