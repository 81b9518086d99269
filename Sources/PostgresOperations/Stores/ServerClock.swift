internal import CompositeOperations
package import DurableOperations
internal import Foundation

/// The clock of a server, which all machines share: the clock of this machine, corrected by the
/// difference that answers of the server have shown.
package final class ServerClock: Sendable {
  /// A difference is corrected if it is larger than the known one by more than this, in
  /// milliseconds. So the time does not vary with the duration of requests.
  private static let tolerance: Int64 = 1_000

  /// A time of this machine: by its clock, which can be set, in milliseconds since the beginning of
  /// 1970, UTC, and by one that only runs.
  package struct MachineTime: Sendable {
    package let clock: Int64
    package let elapsed: ContinuousClock.Instant

    package init(clock: Int64, elapsed: ContinuousClock.Instant) {
      (self.clock, self.elapsed) = (clock, elapsed)
    }

    /// The time now.
    package static var now: MachineTime {
      MachineTime(
        clock: Int64((Date().timeIntervalSince1970 * 1_000).rounded()), elapsed: .now)
    }
  }

  private struct State: Sendable {
    /// The clock of the server minus the clock of this machine.
    var difference: Int64 = 0
    /// The time of this machine at the last comparison; nil before the first one.
    var compared: MachineTime?

    /// By how much the clock of this machine was set since the last comparison.
    func step(at time: MachineTime) -> Int64 {
      guard let compared else { return 0 }
      let elapsed = Int64((time.elapsed - compared.elapsed) / .milliseconds(1))
      let step = time.clock - compared.clock - elapsed
      return abs(step) > tolerance ? step : 0
    }
  }

  private let options: RunStoreOptions
  private let state = Lock(State())

  package init(_ options: RunStoreOptions) { self.options = options }

  /// The time of the store, in milliseconds since the beginning of 1970, UTC.
  package var now: Int64 { now(at: .now, options.milliseconds) }

  /// - Parameters:
  ///   - time: The time of this machine.
  ///   - wall: The wall clock of the store's options.
  package func now(at time: MachineTime, _ wall: Int64) -> Int64 {
    state.withLock { wall + $0.difference - $0.step(at: time) }
  }

  /// Reads rows with the columns of runs of ``ReadStatements``, and compares the clocks.
  ///
  /// - Parameter asked: The time of this machine before the request.
  func runs(_ rows: PostgresRows, asked: MachineTime) -> [AbsurdRun] {
    if let time = AbsurdRun.serverTime(rows) { compare(time, asked: asked) }
    let now = now
    return (0..<rows.count).map { AbsurdRun(rows, $0, at: now) }
  }

  /// Compares the clocks after an answer.
  ///
  /// - Parameters:
  ///   - time: The time of the server in the answer, in milliseconds since the beginning of 1970.
  ///   - asked: The time of this machine before the request.
  ///   - answered: The time of this machine after the answer.
  package func compare(_ time: Int64, asked: MachineTime, answered: MachineTime = .now) {
    // If the clock was set meanwhile, the next answer shows the difference.
    let duration = Int64((answered.elapsed - asked.elapsed) / .milliseconds(1))
    guard abs(answered.clock - asked.clock - duration) <= Self.tolerance else { return }
    let possible =
      (time - answered.clock - Self.tolerance)...(time - answered.clock + duration + Self.tolerance)
    state.withLock { state in
      let known = state.difference - state.step(at: answered)
      state.difference =
        possible.contains(known) ? known : time - answered.clock + duration / 2
      state.compared = answered
    }
  }
}
