package import CompositeOperations

/// The seed of the identifiers in exported traces.
///
/// Identifiers of runs are unique within a process, and identifiers in a trace must be unique
/// everywhere. They are computed, so that no table is needed. All traces of a process have the same
/// seed, so a run has the same identifiers in each of them, and in the requests that it sends.
///
/// A run with a ``TraceLink`` has the trace of its link instead. The identifiers of its spans are
/// computed from the seeds of several processes then, which are random.
package struct TraceSeed: Sendable {
  private let high: UInt64
  private let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The seed of this process.
  package static let process = random()

  private static func random() -> TraceSeed {
    var system = SystemRandomNumberGenerator()
    return TraceSeed(high: system.next(), low: system.next())
  }

  /// The identifier of a trace: 16 bytes in hexadecimal digits, equal for all runs below one
  /// outermost run.
  package func traceID(of outermost: OperationID) -> String {
    (high &+ outermost.number).mixed.hexadecimalDigits
      + (low &+ outermost.number).mixed.nonzero.hexadecimalDigits
  }

  /// The identifier of a span: 8 bytes in hexadecimal digits, different for every run of the
  /// process.
  package func spanID(of run: OperationID) -> String {
    ((high ^ low) &+ run.number).mixed.nonzero.hexadecimalDigits
  }

  /// The identifier of a span for an event after the end of its run.
  func spanID(of run: OperationID, at time: Int64) -> String {
    ((high ^ low) &+ run.number &+ UInt64(bitPattern: time).mixed).mixed.nonzero.hexadecimalDigits
  }
}

extension UInt64 {
  /// The number, or 1 for 0, which is not a valid identifier.
  fileprivate var nonzero: UInt64 { self == 0 ? 1 : self }
}
