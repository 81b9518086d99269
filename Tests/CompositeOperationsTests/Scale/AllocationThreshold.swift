/// The allocations and bytes of one more operation of a shape.
///
/// The shapes are in `Tests/AllocationCounts/Shapes.swift`. Allocations are exact. Bytes may differ
/// by 2 %, because the compiler's sizes for frames of asynchronous functions vary with every
/// change.
struct AllocationThreshold: Sendable {
  let shape: String
  let allocations: Double
  let bytes: Double

  // Without optimization, most allocations are the compiler's and not the engine's.
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
    AllocationThreshold("start() and outcome", 4, bytes: 1_472),
    AllocationThreshold("then", 0, bytes: 0),
    AllocationThreshold("map", 0, bytes: 0),
    AllocationThreshold("context.run", 0, bytes: 0),
    AllocationThreshold("guarded by a circuit breaker", 0, bytes: 0),
    // The key is not in use yet: 18 for its permits and its entry, and 4 for the list of the runs that
    // hold the permits. For a key in use, there are only the 4 for the claim and the hold.
    AllocationThreshold("limited by a key", 26, bytes: 1_104),
    // The results, once in the slots and once in the array, and one state for each.
    AllocationThreshold("child of any type", 0, bytes: 17),
    AllocationThreshold("child of one type", 0, bytes: 17),
    AllocationThreshold("child, a closure", 0, bytes: 17),
    // The slots are allocated in blocks of 256.
    AllocationThreshold("child made lazily", 0.004, bytes: 17),
    AllocationThreshold("child made lazily, result used", 0, bytes: 0),
    // The children of a worker use one scope and one place, as long as no observer keeps them.
    AllocationThreshold("child observed", 0, bytes: 17),
    // One task for each, and a group and the closure that fills it for 128 of them.
    AllocationThreshold("child that waits shortly", 5.044, bytes: 2_528),
    AllocationThreshold("child that waits long", 5.044, bytes: 2_528),
    // One block less: their frames fit into the first block of the task, which has 984 bytes.
    AllocationThreshold("child of one type that waits", 4.044, bytes: 1_512),
    AllocationThreshold("child of any type that waits", 4.044, bytes: 1_512),
    AllocationThreshold("parallel of 2", 10, bytes: 2_523),
    AllocationThreshold("parallel of 8", 10, bytes: 2_625),
    // One of them is for the closure that lists its children for a diagram, and one for the box
    // from which a loop frees them.
    AllocationThreshold("parallel of 2 types", 17, bytes: 2_883),
    AllocationThreshold("list of 100 in a list", 10, bytes: 4_206),
    AllocationThreshold("race of 2", 16, bytes: 2_741),
    // The record of the step. The growth of the history is only in the bytes.
    AllocationThreshold("step", 1, bytes: 65),
    AllocationThreshold("step without history", 1, bytes: 40),
    AllocationThreshold("sequence of 2 steps", 4, bytes: 168),
    // The policy, which the modifier creates. A run allocates nothing.
    AllocationThreshold("retry without failures", 1, bytes: 145),
    // The task of the attempt, its group, the alarm and the state that they share.
    AllocationThreshold("hedge of one attempt", 13, bytes: 2_433),
    // One of them is the scope from which the operation reads the time left.
    AllocationThreshold("timeout", 9, bytes: 2_280),
    AllocationThreshold("timeout, time left", 9, bytes: 2_288),
    AllocationThreshold("abandoning timeout", 15, bytes: 2_012),
  ]

  private static let helped = [
    AllocationThreshold("parallel of 2, helped", 18, bytes: 5_987),
    AllocationThreshold("parallel of 8, helped", 18, bytes: 6_089),
    AllocationThreshold("race of 2, helped", 25, bytes: 6_237),
  ]

  /// Returns the differences between a figure and the threshold, as sentences.
  func problems(of figure: AllocationFigure) -> [String] {
    [
      // Half of the unit to which the figures are rounded.
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
      ? "Avoid the cost, or raise the threshold and state the reason in the commit"
      : "Lower the threshold, so that the gain is not lost again"
    return "\(shape): \(found) \(unit) per operation, and the threshold is \(threshold). "
      + "\(advice): see \"Allocations\" in Documentation/Maintaining.md."
  }
}
