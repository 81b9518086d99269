import Testing

@Suite(
  .disabled(if: Scale.isSanitized, "Sanitizers replace the allocator."),
  .enabled(
    if: AllocationThreshold.isOfThisBuild,
    "The thresholds are for optimized code of Swift 6.3 on Linux with glibc, x86-64."))
struct AllocationTests {
  @Test(arguments: [1, 2])
  func `the allocations of an operation equal their thresholds`(
    processors: Int
  ) async throws {
    let thresholds = AllocationThreshold.all(processors: processors)
    let figures = try await AllocationFigure.all(processors: processors)
    try #require(
      figures.map(\.shape) == thresholds.map(\.shape),
      "the counted shapes differ from the shapes with thresholds")
    for (figure, threshold) in zip(figures, thresholds) {
      for problem in threshold.problems(of: figure) { Issue.record("\(problem)") }
    }
  }
}
