package import CompositeOperations
package import DurableOperations
package import Foundation
internal import SQLiteSupport

/// What happens to a store at its commits.
package enum StoreDisturbance: Sendable, Hashable {
  /// The process ends before or after the commit with this number, from 1.
  case stop(isAfter: Bool, commit: Int)
  /// The disk is full at this commit and some more.
  case diskFull(commit: Int, count: Int)

  package init(random: inout OperationRandomness) {
    let commit = Int.random(in: 1...16, using: &random)
    self =
      switch Int.random(in: 0..<3, using: &random) {
      case 0: .stop(isAfter: false, commit: commit)
      case 1: .stop(isAfter: true, commit: commit)
      default: .diskFull(commit: commit, count: Int.random(in: 1...3, using: &random))
      }
  }
}

/// A store that a test disturbs.
package struct DisturbedStore {
  package let store: RunStore
  package let gate: StoreGate

  package init(_ file: String, now: @escaping @Sendable () -> Date = { Date() }) {
    let gate = StoreGate()
    self.gate = gate
    let options = RunStoreOptions(durability: .normal, now: now)
    store = RunStore.sqlite(file, options: options) { moment, _ in try gate.pass(moment) }
  }
}

/// Makes the commits of a store fail.
package final class StoreGate: Sendable {
  private struct State: Sendable {
    var disturbance: StoreDisturbance?
    var commits = 0
    var isStopped = false
  }

  private let state = Lock(State())

  /// Begins another disturbance, or none. A store that has stopped remains so.
  package func begin(_ disturbance: StoreDisturbance?) {
    state.withLock { $0 = State(disturbance: disturbance, isStopped: $0.isStopped) }
  }

  /// - Throws: The error that the store reports for its writes.
  package func pass(_ moment: CommitMoment) throws {
    let error = state.withLock { state -> (any Error)? in
      if moment == .beforeCommit { state.commits += 1 }
      switch state.disturbance {
      case .stop(let isAfter, let commit):
        if commit == state.commits, (moment == .afterCommit) == isAfter { state.isStopped = true }
      case .diskFull(let commit, let count):
        if moment == .beforeCommit, (commit..<commit + count).contains(state.commits) {
          return SQLiteError(.diskFull, "the disk is full", file: "test")
        }
      case nil: break
      }
      return state.isStopped ? RunStoreError(.closed, "the process has ended") : nil
    }
    if let error { throw error }
  }
}
