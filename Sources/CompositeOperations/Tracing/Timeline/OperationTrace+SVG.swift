extension OperationTrace {
  /// A timeline of the trace as a picture for documents and reports, light or dark as the reader prefers.
  ///
  /// Runs stand in rows, children below their parents; what runs side by side stands in rows of its own. Times in
  /// which a run had not started or waited are hatched. It can only show so much: the 2,000 longest runs, in 150
  /// rows. Where there are more, it says what it leaves out; ``html`` shows everything.
  ///
  /// ```swift
  /// let recorder = TraceRecorder()
  /// _ = await sync.observed(by: recorder).run()
  /// try recorder.trace.svg.write(toFile: "sync.svg", atomically: true, encoding: .utf8)
  /// ```
  ///
  /// - Complexity: O(*n* log *n*) in the number of runs.
  public var svg: String { TimelinePicture(of: self).text }
}
