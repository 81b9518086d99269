extension Duration {
  /// The duration in nanoseconds; `Int64.max` or `Int64.min` on overflow.
  package var inNanoseconds: Int64 {
    // Its components would trap.
    if self > .seconds(Int64.max) { return .max }
    if self < .seconds(Int64.min) { return .min }
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, carry) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflow || carry ? (seconds < 0 ? .min : .max) : sum
  }
}
