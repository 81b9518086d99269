import CompositeOperations
import DurableOperations

/// Detects growth of the logs of a run: of one of a step that runs, or of the step that a page
/// shows.
final class FlowLogGrowth: Sendable {
  private struct State {
    var version: String?
    var logs: (logs: FlowRunLogs, units: [String])?
    var sizes: [String: Int] = [:]
  }

  private let id: RunID
  private let step: String?
  private let reader: FlowRunReader
  private let state = Lock(State())

  init(of id: RunID, showing step: String?, _ reader: FlowRunReader) {
    (self.id, self.step, self.reader) = (id, step, reader)
  }

  /// Whether a log has another size than at the last call. The calls do not overlap.
  ///
  /// - Parameter version: The version of the store. The steps that run are the same until it changes.
  func hasGrown(in version: String) async -> Bool {
    if state.withLock(\.version) != version {
      // After an error, such as a busy journal, the next call reads them again.
      if let logs = try? await .some(reader.growingLogs(of: id, including: step)) {
        state.withLock { state in
          state.version = version
          state.logs = logs
        }
      }
    }
    guard let (logs, units) = state.withLock(\.logs) else { return false }
    var sizes: [String: Int] = [:]
    for unit in units { sizes[unit] = try? logs.size(of: unit) }
    return state.withLock { [sizes] state in
      defer { state.sizes = sizes }
      return state.sizes != sizes
    }
  }
}
