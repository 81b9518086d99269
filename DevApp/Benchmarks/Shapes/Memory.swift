#if canImport(Glibc)
  import CompositeOperations
  import Foundation
  import HeapUse
  import Synchronization

  extension Shape {
    /// The heap in use while the last of many operations runs, none of which waits.
    static func idleMemory(count: Int) -> Shape {
      Shape(
        id: "memory", title: "heap of \(count.grouped) operations that do not wait",
        operations: count, unit: .bytesPerOperation,
        ways: [
          measured("any, results kept", .ours, count) { _, list in
            try await ParallelOperation(list).run().get().sum
          },
          measured("made lazily, results used", .ours, count, keepsResults: false) { census, _ in
            let sum = Sum()
            try await ParallelOperation {
              (0..<count).lazy.map { Counted(index: $0, census: census) }
            } consumingResults: {
              sum.add($0)
            }.run().get()
            return sum.value
          },
          measured("withThrowingTaskGroup", .swift, count) { _, list in
            try await TaskGroups.throwing(list).sum
          },
          measured("discarding task group", .swift, count) { _, list in
            try await TaskGroups.discarding(list).sum
          },
          measured("sliding window, 64 wide", .swift, count) { _, list in
            try await TaskGroups.window(64, list).sum
          },
          measured("OperationQueue, blocks", .swift, count) { census, _ in
            let slots = Slots(count: count)
            let queue = OperationQueue()
            for index in 0..<count {
              queue.addOperation {
                slots[index] = UInt64(index)
                census.count()
              }
            }
            await withUnsafeContinuation { continuation in
              queue.addBarrierBlock { continuation.resume() }
            }
            return slots.sum
          },
        ])
    }

    /// The heap in use while many operations wait.
    static func waitingMemory(count: Int) -> Shape {
      Shape(
        id: "memory-waiting", title: "heap of \(count.grouped) operations that wait",
        operations: count, unit: .bytesPerOperation,
        ways: [
          waiting("any, results kept", .ours, count) { list, _ in
            try await ParallelOperation(list).run().get().sum
          },
          waiting("made lazily, results used", .ours, count, keepsResults: false) { _, crowd in
            let sum = Sum()
            try await ParallelOperation(width: .adaptive) {
              (0..<count).lazy.map { Waiting(index: $0, crowd: crowd) }
            } consumingResults: {
              sum.add($0)
            }.run().get()
            return sum.value
          },
          waiting("withThrowingTaskGroup", .swift, count) { list, _ in
            try await TaskGroups.throwing(list).sum
          },
          waiting("discarding task group", .swift, count) { list, _ in
            try await TaskGroups.discarding(list).sum
          },
        ])
    }

    private static func measured(
      _ name: String, _ role: Way.Role, _ count: Int, keepsResults: Bool = true,
      _ body:
        @escaping @Sendable (Census, [any ComposableOperation<UInt64>]) async throws -> UInt64
    ) -> Way {
      Way(
        name, role,
        sampling: {
          let census = Census(count: count)
          let list = (0..<count).map { index in
            Counted(index: index, census: census) as any ComposableOperation<UInt64>
          }
          let before = settledHeap()
          let checksum = try await body(census, list)
          return sample(census.bytes - before, checksum, keepsResults ? count : 0)
        })
    }

    private static func waiting(
      _ name: String, _ role: Way.Role, _ count: Int, keepsResults: Bool = true,
      _ body: @escaping @Sendable ([any ComposableOperation<UInt64>], Crowd) async throws -> UInt64
    ) -> Way {
      Way(
        name, role,
        sampling: {
          let census = Census(count: 1)
          let crowd = Crowd(order: Array(0..<count)) { census.count() }
          let list = (0..<count).map { index in
            Waiting(index: index, crowd: crowd) as any ComposableOperation<UInt64>
          }
          let before = settledHeap()
          let checksum = try await body(list, crowd)
          return sample(census.bytes - before, checksum, keepsResults ? count : 0)
        })
    }

    /// Returns the heap in use after previous ways have freed theirs, which they do on other
    /// threads.
    static func settledHeap() -> Int {
      var bytes = heap_bytes_in_use()
      var quietLooks = 0
      for _ in 0..<200 where quietLooks < 5 {
        usleep(1_000)
        let now = heap_bytes_in_use()
        quietLooks = now == bytes ? quietLooks + 1 : 0
        bytes = now
      }
      return Int(bytes)
    }

    /// Creates a sample without the memory of the results themselves.
    private static func sample(_ bytes: Int, _ checksum: UInt64, _ results: Int) -> Sample {
      Sample(amount: Double(bytes - results * MemoryLayout<UInt64>.size), checksum: checksum)
    }
  }

  /// A counter that reads the heap in use at the last operation.
  private final class Census: Sendable {
    private let missing: Atomic<Int>
    private let reading = Atomic(0)

    var bytes: Int { reading.load(ordering: .acquiring) }

    init(count: Int) { missing = Atomic(count) }

    func count() {
      if missing.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
        reading.store(Int(heap_bytes_in_use()), ordering: .releasing)
      }
    }
  }

  private struct Counted: ComposableOperation {
    let index: Int
    let census: Census

    func perform(in context: OperationContext) async throws -> UInt64 {
      census.count()
      return UInt64(index)
    }
  }
#endif
