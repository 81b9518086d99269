/// What a shape's figures count.
enum Unit: String, Sendable, Encodable {
  case nanosecondsPerOperation = "ns per operation"
  case nanosecondsPerEvent = "ns per event"
  /// The wall time of a whole run.
  case milliseconds = "ms"
  case bytesPerOperation = "bytes per operation"

  /// The figure that a run's amount comes to.
  func figure(of amount: Double, operations: Int) -> Double {
    switch self {
    case .nanosecondsPerOperation, .nanosecondsPerEvent, .bytesPerOperation:
      amount / Double(operations)
    case .milliseconds: amount / 1_000_000
    }
  }
}
