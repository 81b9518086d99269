internal import CAllocationCounter

/// A way to use operations for which allocations are counted.
struct Shape: Sendable {
  /// Performs a number of operations and returns the number that it has performed.
  typealias Run = @Sendable () async throws -> Int

  /// The name of the shape.
  let name: String
  /// The numbers of operations in the two runs that are compared.
  let sizes: (few: Int, many: Int)
  /// Creates a run of a number of operations; its own allocations are not counted.
  let prepare: @Sendable (_ count: Int) -> Run

  /// Returns a shape that measures what one more operation adds to the cost of a composite.
  static func part(_ name: String, prepare: @escaping @Sendable (_ count: Int) -> Run) -> Shape {
    Shape(name: name, sizes: (1_000, 11_000), prepare: prepare)
  }

  /// Returns a shape that measures the cost of creating and running a flow.
  ///
  /// - Parameter run: Creates and runs the flow, and returns whether it ended as expected.
  static func whole(_ name: String, run: @escaping @Sendable () async throws -> Bool) -> Shape {
    Shape(name: name, sizes: (100, 1_100)) { count in
      {
        var performed = 0
        for _ in 0..<count where try await run() { performed += 1 }
        return performed
      }
    }
  }
}

extension Shape {
  /// Measures the cost of one more operation as the difference of two runs, which cancels the
  /// constant cost of a run.
  func line() async throws -> String {
    let few = try await tally(of: sizes.few)
    let many = try await tally(of: sizes.many)
    func perOperation(_ figure: KeyPath<AllocationTally, Int64>) -> Double {
      let added = Double(many[keyPath: figure] - few[keyPath: figure])
      return (added / Double(sizes.many - sizes.few) * 1_000).rounded() / 1_000
    }
    return "\(name)\t\(perOperation(\.allocations))\t\(perOperation(\.bytes))"
  }

  /// Returns the minimum of several runs. The first run creates metadata that later runs use, and
  /// other activity of the process can only add allocations.
  private func tally(of count: Int) async throws -> AllocationTally {
    var least = AllocationTally(allocations: .max, bytes: .max)
    for _ in 0..<4 {
      let tally = try await tallyOfRun(of: count)
      least.allocations = min(least.allocations, tally.allocations)
      least.bytes = min(least.bytes, tally.bytes)
    }
    return least
  }

  private func tallyOfRun(of count: Int) async throws -> AllocationTally {
    let run = prepare(count)
    let before = allocation_counter_tally()
    let performed = try await run()
    let after = allocation_counter_tally()
    precondition(performed == count, "\(name): performed \(performed) of \(count) operations")
    return AllocationTally(
      allocations: after.allocations - before.allocations, bytes: after.bytes - before.bytes)
  }
}
