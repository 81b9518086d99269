/// A stop of the tour: the code, and its output when it is run.
struct TourStop: Sendable {
  let title: String
  /// The source of `body`; a test compares the two.
  let code: String
  let body: @Sendable (Printer) async throws -> Void
}

/// A collector of the output of a stop.
final class Printer: Sendable {
  private let printed = Log()

  func callAsFunction(_ text: String) { printed.add(text) }

  var lines: [String] { printed.lines }
}
