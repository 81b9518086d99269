import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct BatchTests {
  @Test(arguments: 1...5, [0, 1, 2, 3, 4, 5, 10])
  func `P8: every batch but the last is full, and no element is lost`(size: Int, count: Int) async {
    let batches = Array((0..<count).batched(by: size))
    #expect(batches.flatMap(\.self) == Array(0..<count))
    #expect(batches.dropLast().allSatisfy { $0.count == size })
    #expect(batches.last.map { (1...size).contains($0.count) } ?? (count == 0))
    #expect((0..<count).batched(by: size).underestimatedCount == batches.count)

    var arriving: [[Int]] = []
    for await batch in arrivals(count).batched(by: size) { arriving.append(batch) }
    #expect(arriving == batches)
  }

  @Test func `P8: a batch is created on demand, from no more elements than it contains`() async {
    let taken = Log<Int>()
    let operation = ParallelOperation(width: .serial) {
      (0..<10).lazy.map { element in
        taken.add(element)
        return element
      }.batched(by: 4).map { batch in
        SimpleOperation {
          #expect(taken.count == batch.last.map { $0 + 1 })
          return batch.reduce(0, +)
        }
      }
    }
    #expect(await operation.run().result == [6, 22, 17])
  }

  @Test func `P8: a batch of an asynchronous sequence is delivered when it is complete`() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    let sums = Log<Int>()
    let executor = SeededExecutor(seed: 1)
    let run = ParallelOperation(width: .limited(to: 2)) {
      stream.batched(by: 2).map { batch in SimpleOperation { batch.reduce(0, +) } }
    } consumingResults: { sum in
      sums.add(sum)
    }.start(in: OperationEnvironment(executor: executor))
    continuation.yield(1)
    executor.drain()
    #expect(sums.entries == [])
    continuation.yield(2)
    continuation.yield(3)
    executor.drain()
    #expect(sums.entries == [3])
    continuation.finish()
    executor.drain()
    #expect(sums.entries == [3, 3])
    #expect(await run.outcome.kind == "result ()")
  }

  @Test(arguments: [0, 1, 2, 3, 4])
  func `P8: an error follows the elements before it`(count: Int) async {
    let stream = AsyncThrowingStream<Int, any Error> { continuation in
      for element in 0..<count { continuation.yield(element) }
      continuation.finish(throwing: SourceError())
    }
    var elements: [Int] = []
    await #expect(throws: SourceError.self) {
      for try await batch in stream.batched(by: 2) { elements += batch }
    }
    #expect(elements == Array(0..<count))
  }

  @Test func `P8: in the mode runAll, a composite runs the batch before an error`() async throws {
    let saved = Log<[Int]>()
    let save = ParallelOperation(width: .limited(to: 4), onFailure: .runAll) {
      AsyncThrowingStream<Int, any Error> { continuation in
        for element in 0..<5 { continuation.yield(element) }
        continuation.finish(throwing: SourceError())
      }.batched(by: 2).map { batch in
        SimpleOperation {
          await Task.yield()
          try Task.checkCancellation()
          saved.add(batch)
        }
      }
    }
    let error = try #require(await save.run().error as? ParallelOperationError)
    #expect(error.sourceError is SourceError)
    #expect(saved.entries.sorted { $0[0] < $1[0] } == [[0, 1], [2, 3], [4]])
  }

  @Test func `P8: a source is not read after its end`() async {
    var elements = [1, 2, 3, nil, 4]
    #expect(Array(AnyIterator { elements.removeFirst() }.batched(by: 2)) == [[1, 2], [3]])
    #expect(elements == [4])
    let rest = Log<Int>()
    let stream = AsyncStream<Int> {
      rest.add(1)
      return rest.count <= 3 ? rest.count : nil
    }
    var batches: [[Int]] = []
    for await batch in stream.batched(by: 2) { batches.append(batch) }
    #expect(batches == [[1, 2], [3]])
    #expect(rest.count == 4)
  }

  @Test func `P8: a batch size below 1 is a programming error`() async {
    await #expect(processExitsWith: .failure) { _ = (0..<3).batched(by: 0) }
    await #expect(processExitsWith: .failure) { _ = AsyncStream<Int> { nil }.batched(by: -1) }
  }

  private func arrivals(_ count: Int) -> AsyncStream<Int> {
    AsyncStream { continuation in
      for element in 0..<count { continuation.yield(element) }
      continuation.finish()
    }
  }
}

private struct SourceError: Error {}
