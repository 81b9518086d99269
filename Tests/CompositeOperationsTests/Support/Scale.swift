/// The size of scale tests. Sanitizers need many times the stack, the memory and the time.
enum Scale {
  #if SANITIZER
    static let isSanitized = true
    static let depth = 1_000
  #else
    static let isSanitized = false
    static let depth = 10_000
  #endif
}
