internal import CAllocationCounter

/// A way to use operations, whose allocations are counted.
struct Shape: Sendable {
  /// Performs a number of operations, and says how many it has performed.
  typealias Run = @Sendable () async throws -> Int

  /// What the figures are of.
  let name: String
  /// How many operations the two runs perform that are compared.
  let sizes: (few: Int, many: Int)
  /// Makes a run of so many operations; what that allocates is not counted.
  let prepare: @Sendable (_ count: Int) -> Run

  /// One operation of many in a composite: what it adds to the composite's cost.
  static func part(_ name: String, prepare: @escaping @Sendable (_ count: Int) -> Run) -> Shape {
    Shape(name: name, sizes: (1_000, 11_000), prepare: prepare)
  }

  /// The same flow many times: what it costs to make it and to run it.
  ///
  /// - Parameter run: Makes and runs the flow, and says whether it ended as it should.
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
  /// What one more operation costs: many less few, so that what a run costs whatever its size falls
  /// out.
  func line() async throws -> String {
    let few = try await tally(of: sizes.few)
    let many = try await tally(of: sizes.many)
    func perOperation(_ figure: KeyPath<AllocationTally, Int64>) -> Double {
      let added = Double(many[keyPath: figure] - few[keyPath: figure])
      return (added / Double(sizes.many - sizes.few) * 1_000).rounded() / 1_000
    }
    return "\(name)\t\(perOperation(\.allocations))\t\(perOperation(\.bytes))"
  }

  /// The least of several runs: the first one makes what is there from then on, such as metadata, and
  /// what else the process does at the time can only add to a run.
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
    precondition(performed == count, "\(name): \(performed) operations of \(count) were performed.")
    return AllocationTally(
      allocations: after.allocations - before.allocations, bytes: after.bytes - before.bytes)
  }
}
