/// How often one more operation of a shape allocates, and how many bytes.
///
/// The shapes are in `Tests/AllocationCounts/Shapes.swift`. Allocations are exact; of the bytes one in
/// fifty may come and go, because with every change the compiler decides anew how large the frames of
/// asynchronous functions are.
struct AllocationThreshold: Sendable {
  let shape: String
  let allocations: Double
  let bytes: Double

  // Without the optimiser it is the compiler that allocates, and says nothing of the engine.
  #if !DEBUG && compiler(>=6.3) && !compiler(>=6.4) && canImport(Glibc) && arch(x86_64)
    static let isOfThisBuild = true
  #else
    static let isOfThisBuild = false
  #endif

  private init(_ shape: String, _ allocations: Double, bytes: Double) {
    self.shape = shape
    self.allocations = allocations
    self.bytes = bytes
  }

  static func all(processors: Int) -> [AllocationThreshold] { processors == 1 ? unhelped : helped }

  private static let unhelped = [
    AllocationThreshold("run()", 0, bytes: 0),
    AllocationThreshold("start() and outcome", 8, bytes: 1_648),
    AllocationThreshold("then", 0, bytes: 0),
    AllocationThreshold("map", 0, bytes: 0),
    AllocationThreshold("context.run", 0, bytes: 0),
    // The results, once in the slots and once in the array, and a state each.
    AllocationThreshold("child of any type", 0, bytes: 17),
    AllocationThreshold("child of one type", 0, bytes: 17),
    AllocationThreshold("child, a closure", 0, bytes: 17),
    // The slots come in blocks of 256.
    AllocationThreshold("child made lazily", 0.004, bytes: 17),
    AllocationThreshold("child made lazily, result used", 0, bytes: 0),
    AllocationThreshold("child observed", 2, bytes: 155),
    // A task each, and a group for 128 of them.
    AllocationThreshold("child that waits shortly", 5.037, bytes: 2_528),
    AllocationThreshold("child that waits long", 5.037, bytes: 2_528),
    // A block less: their frames leave room in the task's first one, which has 984 bytes.
    AllocationThreshold("child of one type that waits", 4.037, bytes: 1_512),
    AllocationThreshold("child of any type that waits", 4.037, bytes: 1_512),
    AllocationThreshold("parallel of 2", 10, bytes: 2_523),
    AllocationThreshold("parallel of 8", 10, bytes: 2_625),
    // One of them for the closure that lists its children for a diagram, and one for the box from
    // which a loop frees them.
    AllocationThreshold("parallel of 2 types", 17, bytes: 2_883),
    AllocationThreshold("list of 100 in a list", 10, bytes: 4_206),
    AllocationThreshold("race of 2", 16, bytes: 2_741),
    // Its record; the history that grows is in the bytes.
    AllocationThreshold("step", 1, bytes: 65),
    AllocationThreshold("step without history", 1, bytes: 40),
    AllocationThreshold("sequence of 2 steps", 4, bytes: 168),
    AllocationThreshold("retry without failures", 2, bytes: 80),
  ]

  private static let helped = [
    AllocationThreshold("parallel of 2, helped", 18, bytes: 5_987),
    AllocationThreshold("parallel of 8, helped", 18, bytes: 6_089),
    AllocationThreshold("race of 2, helped", 25, bytes: 6_237),
  ]

  /// What is wrong with a figure, in sentences; nothing if it is the threshold.
  func problems(of figure: AllocationFigure) -> [String] {
    [
      // Half of what the figures are rounded to.
      problem("allocations", of: figure.allocations, beside: allocations, slack: 0.000_5),
      problem("bytes", of: figure.bytes, beside: bytes, slack: max(0.5, bytes / 50)),
    ].compactMap(\.self)
  }

  private func problem(
    _ unit: String, of found: Double, beside threshold: Double, slack: Double
  ) -> String? {
    if abs(found - threshold) <= slack { return nil }
    let advice =
      found > threshold
      ? "Find what asks for more; if it is worth that, raise the threshold and say in the commit why"
      : "Lower the threshold, so that it stays so"
    return "\(shape): \(found) \(unit) per operation, and the threshold is \(threshold). "
      + "\(advice): see \"Allocations\" in CONTRIBUTING.md."
  }
}
