internal import CompositeOperations

/// Streams that receive the same elements, each from its beginning on. They finish when this is
/// released.
final class Broadcast<Element: Sendable>: Sendable {
  private let listeners = Lock<[Int: AsyncStream<Element>.Continuation]>([:])

  /// - Parameter policy: The elements that a stream keeps until its consumer asks for them.
  func stream(
    buffering policy: AsyncStream<Element>.Continuation.BufferingPolicy = .unbounded
  ) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: policy)
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

  func yield(_ element: Element) { yield([element]) }

  func yield(_ elements: [Element]) {
    for listener in listeners.withLock({ $0 }).values {
      for element in elements { listener.yield(element) }
    }
  }

  deinit { for listener in listeners.withLock({ $0 }).values { listener.finish() } }
}
