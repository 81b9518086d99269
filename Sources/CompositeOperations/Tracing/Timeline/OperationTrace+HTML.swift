extension OperationTrace {
  /// A timeline of the trace for a browser, titled "Timeline": see ``html(title:)``.
  public var html: String { html(title: "Timeline") }

  /// A timeline of the trace for a browser: one page that needs nothing besides itself, with a summary.
  ///
  /// ```swift
  /// let recorder = TraceRecorder()
  /// _ = await sync.observed(by: recorder).run()
  /// try recorder.trace.html(title: "Sync").write(
  ///   toFile: "sync.html", atomically: true, encoding: .utf8)
  /// ```
  ///
  /// Every run is in it. Names are clipped at 300 scalars, and the texts of errors and notes at 4,000.
  ///
  /// - Parameter title: What stands above it.
  /// - Returns: A document of HTML.
  /// - Complexity: O(*n* log *n*) in the number of runs and of what is noted of them; some 80 bytes a run.
  public func html(title: String) -> String {
    let title = title.clippedLine(to: 300)
    return TimelinePage.text(title: title, data: TimelineData.json(of: self, title: title))
  }
}
