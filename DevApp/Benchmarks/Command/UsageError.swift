/// An error for invalid arguments: what was given, and what was expected.
struct UsageError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
