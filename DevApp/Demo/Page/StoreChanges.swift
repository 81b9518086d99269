import CompositeOperations
import DurableOperations
import Foundation

/// Tells the pages that are open that something in a store may have changed.
///
/// While a page is open, it compares the version of the store four times a second. Without pages it
/// does nothing.
final class StoreChanges: Sendable {
  private static let interval = Duration.milliseconds(250)

  private let store: RunStore
  private let pages = Lock<[UUID: AsyncStream<String>.Continuation]>([:])
  /// An element for each page that opens.
  private let opened = AsyncStream.makeStream(
    of: Void.self, bufferingPolicy: .bufferingNewest(1))

  init(of store: RunStore) { self.store = store }

  /// Calls a closure with each new version, until it returns false or the task is cancelled.
  func eachVersion(_ body: (String) -> Bool) async {
    let id = UUID()
    let (versions, continuation) = AsyncStream.makeStream(
      of: String.self, bufferingPolicy: .bufferingNewest(1))
    pages.withLock { $0[id] = continuation }
    defer { pages.withLock { $0[id] = nil } }
    opened.continuation.yield()
    for await version in versions where !body(version) { return }
  }

  /// Watches the store until the task is cancelled.
  func watch() async throws {
    var last = ""
    for await _ in opened.stream {
      while true {
        let pages = pages.withLock { Array($0.values) }
        if pages.isEmpty { break }
        // A store that fails is shown by the page itself.
        let version = (try? await store.version()) ?? "failed"
        if version != last { for page in pages { page.yield(version) } }
        last = version
        try await Task.sleep(for: Self.interval)
      }
    }
    try Task.checkCancellation()
  }
}
