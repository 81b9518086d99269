internal import CompositeOperations

/// Streams that receive the same elements, each from its beginning on. They finish when this is
/// released.
final class Broadcast<Element: Sendable>: Sendable {
  private let listeners = Lock<[Int: AsyncStream<Element>.Continuation]>([:])

  /// Returns a new stream, which keeps its elements until its consumer asks for them.
  func stream() -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(of: Element.self)
    let number = listeners.withLock { listeners in
      let number = (listeners.keys.max() ?? 0) + 1
      listeners[number] = continuation
      return number
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.listeners.withLock { $0.removeValue(forKey: number) }
    }
    return stream
  }

  func yield(_ element: Element) { yield(CollectionOfOne(element)) }

  /// The elements are computed once for each stream.
  func yield(_ elements: some Sequence<Element>) {
    for listener in listeners.withLock({ $0 }).values {
      for element in elements { listener.yield(element) }
    }
  }

  deinit { for listener in listeners.withLock({ $0 }).values { listener.finish() } }
}
