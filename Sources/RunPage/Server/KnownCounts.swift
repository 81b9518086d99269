import CompositeOperations
import DurableOperations
import SystemSupport

/// The numbers of runs. They are counted again only after a change of the store, and once for
/// concurrent requests.
final class KnownCounts: Sendable {
  private struct Key: Hashable {
    let version: String
    let text: String?
    let parent: RunID?
  }

  private let last = Lock<(key: Key, counts: [RunCount])?>(nil)
  private let counting = SharedRuns<Key, [RunCount]>()

  func of(_ query: RunQuery, in served: ServedStore) async throws -> [RunCount] {
    // Before the counts, so that a later change is not missed.
    let key = Key(version: try await served.version(), text: query.text, parent: query.parent)
    if let last = last.withLock(\.self), last.key == key { return last.counts }
    let count = SimpleOperation { try await served.checked().counts(of: query.counted) }
    let counts = try await count.shared(in: counting, for: key).run().get()
    last.withLock { $0 = (key, counts) }
    return counts
  }
}
