public import CompositeOperations
import OperationTracing
import SystemSupport

/// The observation of the work of a command-line program: the trace files that its user requests, and
/// a progress display.
///
/// On a terminal, the display has a line for each running operation and is updated ten times a second.
/// Otherwise it prints a line every five seconds. It is removed when a ``ProgramRun`` ends.
///
/// An observation is for one run, and not for several at the same time.
public final class ProgramObservation {
  private let options: TraceOptions
  /// The trace that is written during the run.
  private let file: TraceFile?
  /// The recorder of the traces that are written after the run.
  private let recorder: TraceRecorder?
  private let progress: LiveProgress?

  /// Creates an observation, and the files.
  ///
  /// A trace for Perfetto, Chrome or OpenTelemetry is written during the run. The other formats are
  /// written by ``end()``; their files are created empty, so that a path that cannot be written is
  /// an error before the work begins. Existing files are replaced.
  ///
  /// - Parameters:
  ///   - options: The requested files.
  ///   - output: The destination of the progress display; nil for none.
  /// - Throws: `TraceFileError` if a file cannot be created.
  public init(_ options: TraceOptions, progressOn output: StandardError? = nil) throws {
    self.options = options
    file = try options.trace.flatMap { path in
      try TraceFormat(ofFile: path).map { try TraceFile(path, format: $0) }
    }
    let paths = [options.timeline, file == nil ? options.trace : nil].compactMap(\.self)
    // A terminal or a pipe would show the contents of an empty trace.
    for path in paths where (try? FileStatus(ofFile: path))?.kind != .other {
      try TraceFile(path).close()
    }
    let needsRecorder = options.timeline != nil || options.trace != nil && file == nil
    recorder = needsRecorder ? TraceRecorder() : nil
    progress = output.map { LiveProgress(on: $0) }
  }

  /// The environment of the run, with the observers. ``ProgramRun`` uses it; a program that starts its
  /// operation otherwise passes it to `run(in:)` or `start(in:)`.
  public var environment: OperationEnvironment {
    var environment = OperationEnvironment()
    if let file { environment.observers.append(file) }
    if let recorder { environment.observers.append(recorder) }
    if let progress { environment.observers.append(progress.observer) }
    return environment
  }

  /// A closure that removes the lines of the progress display while the terminal is used otherwise
  /// (`true`), and shows them again (`false`).
  package var progressPause: @Sendable (Bool) -> Void {
    if let pause = progress?.pause { pause } else { { _ in } }
  }

  /// Removes the progress display.
  func endProgress() { progress?.end() }

  /// Removes the progress display and writes the files. Call it after the run, whatever its outcome.
  ///
  /// - Throws: `TraceFileError` if a file cannot be written.
  public func end() throws {
    endProgress()
    let trace = recorder?.trace
    if let path = options.timeline { try trace?.write(to: path) }
    if let path = options.trace, file == nil { try trace?.write(to: path) }
    try file?.close()
  }

  // In case the run could not begin.
  deinit {
    endProgress()
    try? file?.close()
  }
}
