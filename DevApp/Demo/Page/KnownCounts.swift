import CompositeOperations
import DurableOperations

/// The numbers of runs, which are counted again only after a change of the store.
final class KnownCounts: Sendable {
  private struct Known {
    let version: String
    let text: String?
    let parent: RunID?
    let counts: [RunCount]
  }

  private let last = Lock<Known?>(nil)
  /// Held while runs are counted, so that several requests count them once.
  private let counting = AsyncMutex()

  func of(_ query: RunQuery, in served: ServedStore) async throws -> [RunCount] {
    try await counting.acquire()
    defer { counting.release() }
    // Before the counts, so that a later change is not missed.
    let version = try await served.version()
    if let last = last.withLock(\.self), last.version == version, last.text == query.text,
      last.parent == query.parent
    {
      return last.counts
    }
    let counts = try await served.checked().counts(of: query.counted)
    let known = Known(version: version, text: query.text, parent: query.parent, counts: counts)
    last.withLock { $0 = known }
    return counts
  }
}
