/// An encoder that writes runs block by block, so that they need not all be in memory.
package protocol TraceEncoder: Sendable {
  /// Encodes the next steps of an assembler.
  ///
  /// - Parameter now: The end time to write for unfinished runs.
  mutating func block(of steps: [TraceAssembler.Step], now: Duration) -> [UInt8]

  /// The bytes after the last block.
  mutating func ending() -> [UInt8]
}

extension OperationTrace.Span {
  /// `result`, `error`, `cancelled`, or `unfinished` for a run that has not ended.
  var outcome: String {
    switch end {
    case .result: "result"
    case .error: "error"
    case .cancelled: "cancelled"
    case nil: "unfinished"
    }
  }

  /// The reason of the cancellation; nil if there is none.
  var reason: String? { if case .cancelled(let reason) = end { reason } else { nil } }

  /// The description of the error; nil if there is none.
  var error: String? { if case .error(let error) = end { error } else { nil } }

  /// The sum of the waits.
  func waited(now: Duration) -> Duration {
    waits.reduce(.zero) { $0 + (($1.ended ?? ended ?? now) - $1.began) }
  }
}
