/// `DevApp tour`
struct TourCommand {
  static let usage = "usage: DevApp tour"

  init(_ arguments: ArraySlice<RawPath>) throws(UsageError) {
    if let first = arguments.first {
      throw UsageError("tour: unexpected argument \(first); expected none")
    }
  }

  /// - Returns: The exit status.
  func run() async throws -> Int32 {
    for (number, stop) in TourStop.all.enumerated() {
      let printer = Printer()
      try await stop.body(printer)
      let page =
        ["\(number + 1). \(stop.title)", ""]
        + stop.code.split(separator: "\n", omittingEmptySubsequences: false).map { "    \($0)" }
        + [""] + printer.lines.map { "  → \($0)" } + ["", ""]
      try StandardOutput().write(Array(page.joined(separator: "\n").utf8))
    }
    return ExitCode.success
  }
}
