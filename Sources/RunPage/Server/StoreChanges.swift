import CompositeOperations
import DurableOperations
import Foundation

/// Tells the pages that are open that something in a store may have changed.
///
/// While a page is open, it compares the version of the store four times a second. Without pages it
/// does nothing.
final class StoreChanges: Sendable {
  private static let interval = Duration.milliseconds(250)

  private let store: ServedStore
  private struct Page {
    let versions: AsyncStream<String>.Continuation
    let growth: FlowLogGrowth?
    /// The version that the page was told last; nil at first, because the store may have changed
    /// since the page was made.
    var version: String?
  }

  private let pages = Lock<[UUID: Page]>([:])
  /// An element for each page that opens.
  private let opened = AsyncStream.makeStream(
    of: Void.self, bufferingPolicy: .bufferingNewest(1))

  init(of store: ServedStore) { self.store = store }

  /// Calls a closure with each new version, until it returns false or the task is cancelled.
  ///
  /// - Parameter growth: The logs whose growth repeats the version.
  func eachVersion(watching growth: FlowLogGrowth? = nil, _ body: (String) -> Bool) async {
    let id = UUID()
    let (versions, continuation) = AsyncStream.makeStream(
      of: String.self, bufferingPolicy: .bufferingNewest(1))
    pages.withLock { $0[id] = Page(versions: continuation, growth: growth) }
    defer { pages.withLock { $0[id] = nil } }
    opened.continuation.yield()
    for await version in versions where !body(version) { return }
  }

  /// Watches the store until the task is cancelled.
  func watch() async throws {
    for await _ in opened.stream {
      while true {
        let open = pages.withLock(\.self)
        if open.isEmpty { break }
        // A store that fails is shown by the page itself.
        let version = (try? await store.version()) ?? "failed"
        for (id, page) in open {
          let hasGrown = await page.growth?.hasGrown(in: version) ?? false
          if version == page.version, !hasGrown { continue }
          page.versions.yield(version)
          pages.withLock { $0[id]?.version = version }
        }
        try await Task.sleep(for: Self.interval)
      }
    }
    try Task.checkCancellation()
  }
}
