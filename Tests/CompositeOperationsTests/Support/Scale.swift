import Foundation

/// The size of scale tests and random tests. Sanitizers need many times the stack, the memory and
/// the time.
enum Scale {
  #if SANITIZER
    static let isSanitized = true
    static let depth = 1_000
    private static let isFull = false
  #else
    static let isSanitized = false
    static let depth = 10_000
    private static let isFull =
      ProcessInfo.processInfo.environment["COMPOSITE_TEST_DEPTH"] == "full"
  #endif

  /// The number of random cases to run, of those that CI runs with `COMPOSITE_TEST_DEPTH=full`.
  static func cases(_ count: Int) -> Int { isFull ? count : count / 10 }
}
