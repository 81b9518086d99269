import CompositeOperations
import DurableOperations
import Foundation
import SystemSupport

/// Tells the pages that are open that something in a store may have changed.
///
/// While a page is open, it compares the version of the store four times a second. Without pages it
/// does nothing.
final class StoreChanges: Sendable {
  private struct State: Sendable {
    var pages: [UUID: AsyncStream<String>.Continuation] = [:]
    var waiter: CheckedContinuation<Void, Never>?
    var isCancelled = false
  }

  private static let interval = Duration.milliseconds(250)

  private let store: RunStore
  private let state = Lock(State())

  init(of store: RunStore) { self.store = store }

  /// Calls a closure with each new version, until the task is cancelled or the watch ends.
  func eachVersion(_ body: (String) -> Bool) async {
    let id = UUID()
    let (versions, continuation) = AsyncStream.makeStream(
      of: String.self, bufferingPolicy: .bufferingNewest(1))
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if state.isCancelled {
        continuation.finish()
        return nil
      }
      state.pages[id] = continuation
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
    defer { state.withLock { $0.pages[id] = nil } }
    for await version in versions where !body(version) { return }
  }

  /// Watches the store until the task is cancelled.
  func watch() async throws {
    defer {
      let pages = state.withLock { state in
        state.isCancelled = true
        defer { state.pages = [:] }
        return state.pages.values.map(\.self)
      }
      for page in pages { page.finish() }
    }
    var last = ""
    while true {
      await waitForPage()
      try Task.checkCancellation()
      // A failing store is shown by the page itself.
      let version = (try? await store.version()) ?? "failed"
      if version != last {
        last = version
        let pages = state.withLock { $0.pages.values.map(\.self) }
        for page in pages { page.yield(version) }
      }
      try await Task.sleep(for: Self.interval)
    }
  }

  private func waitForPage() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let isNeeded = state.withLock { state in
          if !state.pages.isEmpty || state.isCancelled || Task.isCancelled { return false }
          state.waiter = waiter
          return true
        }
        if !isNeeded { waiter.resume() }
      }
    } onCancel: {
      let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
        state.isCancelled = true
        defer { state.waiter = nil }
        return state.waiter
      }
      waiter?.resume()
    }
  }
}
