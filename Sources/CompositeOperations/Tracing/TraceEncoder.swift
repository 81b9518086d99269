/// Makes text of runs, block by block, so that nobody has to have all of them.
package protocol TraceEncoder: Sendable {
  /// The text of what an assembler said next.
  ///
  /// - Parameter now: The time at which what goes on is told to end.
  mutating func block(of steps: [TraceAssembler.Step], now: Duration) -> [UInt8]

  /// What stands behind the last block.
  mutating func ending() -> [UInt8]
}

extension OperationTrace.Span {
  /// `result`, `error`, `cancelled`, or `unfinished` for what goes on.
  var outcome: String {
    switch end {
    case .result: "result"
    case .error: "error"
    case .cancelled: "cancelled"
    case nil: "unfinished"
    }
  }

  /// Why it was cancelled.
  var reason: String? { if case .cancelled(let reason) = end { reason } else { nil } }

  /// What it failed by.
  var error: String? { if case .error(let error) = end { error } else { nil } }

  /// How long it waited, for everything together.
  func waited(now: Duration) -> Duration {
    waits.reduce(.zero) { $0 + (($1.ended ?? ended ?? now) - $1.began) }
  }
}
