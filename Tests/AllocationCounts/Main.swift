internal import CAllocationCounter

/// `AllocationCounts [PROCESSORS]`: prints a line a shape, with its name, how often one more
/// operation of it allocates, and how many bytes.
///
/// With one processor, as it is by default, nobody helps; with two, a composite has a helper.
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

  // On the thread pool, where the callers of operations are as a rule. In a task of its own it would
  // get the main task's priority at some moment, and with it another thread for what it starts.
  @concurrent private static func count(_ shapes: [Shape]) async throws {
    for shape in shapes { print(try await shape.line()) }
  }
}
