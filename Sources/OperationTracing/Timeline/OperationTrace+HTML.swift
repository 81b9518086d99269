extension OperationTrace {
  /// A timeline of the trace as a web page with the title "Timeline"; see ``html(title:)``.
  public var html: String { html(title: "Timeline") }

  /// Returns a timeline of the trace as a self-contained web page, with a summary.
  ///
  /// ```swift
  /// let recorder = TraceRecorder()
  /// _ = await sync.observed(by: recorder).run()
  /// try recorder.trace.html(title: "Sync").write(
  ///   toFile: "sync.html", atomically: true, encoding: .utf8)
  /// ```
  ///
  /// The page contains every run. Names are clipped to 300 scalars, and the texts of errors and
  /// notes to 4,000.
  ///
  /// - Parameter title: The title of the page.
  /// - Returns: An HTML document.
  /// - Complexity: O(*n* log *n*) in the number of runs, waits and notes; about 80 bytes per run.
  public func html(title: String) -> String {
    let title = title.clippedLine(to: 300)
    return TimelinePage.text(title: title, data: TimelineData.json(of: self, title: title))
  }
}
