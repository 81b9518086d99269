internal import CAllocationCounter

/// `AllocationCounts [PROCESSORS]`: prints a line for each shape, with its name and the allocations
/// and bytes of one more operation.
///
/// With one processor, the default, composites have no extra worker; with two, they have one.
@main struct Main {
  static func main() async throws {
    guard allocation_counter_is_available() else {
      print("Allocations are counted with glibc, and not under a sanitizer.")
      return
    }
    let processors = CommandLine.arguments.dropFirst().first.flatMap { Int64($0) } ?? 1
    allocation_counter_set_processors(processors)
    try await count(processors == 1 ? Shape.unhelped : Shape.helped)
  }

  // On the thread pool, like most callers of operations. A separate task would at some time get the
  // priority of the main task, and then another thread for the tasks that it starts.
  @concurrent private static func count(_ shapes: [Shape]) async throws {
    for shape in shapes { print(try await shape.line()) }
  }
}
