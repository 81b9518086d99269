import CompositeOperations

/// An asynchronous sequence of operations, each available immediately.
struct WorkSequence: AsyncSequence, Sendable {
  struct Iterator: AsyncIteratorProtocol {
    let count: Int
    var next = 0

    mutating func next() async -> Work? {
      if next == count { return nil }
      next += 1
      return Work(seed: UInt64(next - 1))
    }
  }

  let count: Int

  func makeAsyncIterator() -> Iterator { Iterator(count: count) }
}
