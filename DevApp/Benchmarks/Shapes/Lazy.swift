import CompositeOperations

extension Shape {
  /// Children that are created one by one while others run.
  static func lazy(count: Int) -> Shape {
    Shape(
      id: "lazy", title: "\(count.grouped) empty operations made one by one", operations: count,
      ways: [
        Way("lazy sequence", .ours) {
          try await ParallelOperation { (0..<count).lazy.map { Work(seed: UInt64($0)) } }
            .run().get().sum
        },
        Way("lazy sequence, results used", .ours) {
          try await withSum { sum in
            try await ParallelOperation {
              (0..<count).lazy.map { Work(seed: UInt64($0)) }
            } consumingResults: {
              sum.add($0)
            }.run().get()
          }
        },
        Way("async sequence", .ours) {
          try await ParallelOperation { WorkSequence(count: count) }.run().get().sum
        },
        Way("async sequence, results used", .ours) {
          try await withSum { sum in
            try await ParallelOperation {
              WorkSequence(count: count)
            } consumingResults: {
              sum.add($0)
            }.run().get()
          }
        },
        Way("direct loop", .plain) {
          let context = OperationContext()
          var sum: UInt64 = 0
          for index in 0..<count { sum &+= try await mixed(index).perform(in: context) }
          return sum
        },
        Way("sliding window, 64 wide", .swift) { try await window(64, count) },
        Way("discarding task group", .swift) {
          try await withSum { sum in
            try await withThrowingDiscardingTaskGroup { group in
              for index in 0..<count {
                group.addTask { sum.add(try await mixed(index).perform(in: OperationContext())) }
              }
            }
          }
        },
      ])
  }

  private static func withSum(_ body: (Sum) async throws -> Void) async throws -> UInt64 {
    let sum = Sum()
    try await body(sum)
    return sum.value
  }

  @concurrent private static func window(_ width: Int, _ count: Int) async throws -> UInt64 {
    try await withThrowingTaskGroup(of: UInt64.self) { group in
      var sum: UInt64 = 0
      for index in 0..<count {
        if index >= width, let value = try await group.next() { sum &+= value }
        group.addTask { try await mixed(index).perform(in: OperationContext()) }
      }
      for try await value in group { sum &+= value }
      return sum
    }
  }
}
