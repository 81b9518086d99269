internal import CompositeOperations
internal import DurableOperations
internal import Foundation

/// The clock of a server, which all machines share: the clock of this machine, corrected by the difference that
/// answers of the server have shown.
final class ServerClock: Sendable {
  /// Differences that are smaller, in milliseconds, count as none, so that the time does not vary with the duration
  /// of requests.
  private static let tolerance: Int64 = 1_000

  private let options: RunStoreOptions
  private let difference = Lock<Int64>(0)

  init(_ options: RunStoreOptions) { self.options = options }

  /// The time of the store, in milliseconds since the beginning of 1970, UTC.
  var now: Int64 { options.milliseconds + difference.withLock(\.self) }

  /// The time of this machine, in the same unit.
  static var ofMachine: Int64 { Int64((Date().timeIntervalSince1970 * 1_000).rounded()) }

  /// Reads rows with the columns of runs of ``ReadStatements``, and compares the clocks.
  ///
  /// - Parameter asked: The time of this machine before the request.
  func runs(_ rows: PostgresRows, asked: Int64) -> [AbsurdRun] {
    if rows.count > 0 { compare(rows.integer(0, 28), asked: asked) }
    let now = now
    return (0..<rows.count).map { AbsurdRun(rows, $0, at: now) }
  }

  /// Compares the clocks after an answer.
  ///
  /// - Parameters:
  ///   - time: The time of the server in the answer, in the same unit.
  ///   - asked: The time of this machine before the request.
  func compare(_ time: Int64?, asked: Int64, answered: Int64 = ofMachine) {
    guard let time, asked <= answered else { return }
    let possible = (time - answered - Self.tolerance)...(time - asked + Self.tolerance)
    difference.withLock { difference in
      if !possible.contains(difference) { difference = time - asked / 2 - answered / 2 }
    }
  }
}
