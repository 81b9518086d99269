extension OperationTrace {
  /// A timeline of the trace as an SVG image for documents, light or dark as the reader prefers.
  ///
  /// Children are below their parents, and concurrent runs have rows of their own. Times in which a
  /// run was waiting or had not started are hatched. The image contains at most the 2,000 longest
  /// runs, in 150 rows, and says what it omits; ``html`` contains all runs.
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
