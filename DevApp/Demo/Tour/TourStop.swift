/// One thing that the tour shows: the code, and what it prints when it is run here and now.
struct TourStop: Sendable {
  let title: String
  /// The source of `body`; a test compares the two.
  let code: String
  let body: @Sendable (Printer) async throws -> Void
}

/// Collects what a stop prints.
final class Printer: Sendable {
  private let printed = Log()

  func callAsFunction(_ text: String) { printed.add(text) }

  var lines: [String] { printed.lines }
}
