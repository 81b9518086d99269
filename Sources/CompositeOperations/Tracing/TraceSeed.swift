/// What the identities of a trace are made of, in files that others read: the identities of runs are unique
/// within a process, and those of a trace everywhere.
///
/// They are computed, so that nobody has to keep a table of them.
package struct TraceSeed: Sendable {
  private let high: UInt64
  private let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  package static func random() -> TraceSeed {
    var system = SystemRandomNumberGenerator()
    return TraceSeed(high: system.next(), low: system.next())
  }

  /// 16 bytes in hexadecimal digits, the same for all that ran below one outermost run.
  package func traceID(of outermost: OperationID) -> String {
    (high &+ outermost.number).mixed.hexadecimal
      + (low &+ outermost.number).mixed.nonzero.hexadecimal
  }

  /// 8 bytes in hexadecimal digits, other ones for every run of the process.
  package func spanID(of run: OperationID) -> String {
    ((high ^ low) &+ run.number).mixed.nonzero.hexadecimal
  }

  /// The same for what happened to a run after its end.
  func spanID(of run: OperationID, at time: Int64) -> String {
    ((high ^ low) &+ run.number &+ UInt64(bitPattern: time).mixed).mixed.nonzero.hexadecimal
  }
}

extension UInt64 {
  /// Zeros alone are no identity.
  fileprivate var nonzero: UInt64 { self == 0 ? 1 : self }

  /// 16 digits.
  fileprivate var hexadecimal: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
