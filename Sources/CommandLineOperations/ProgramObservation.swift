public import CompositeOperations
import OperationTracing
import SystemSupport

/// The observation of the work of a command-line program: the trace files that its user asks for, and
/// a progress display.
///
/// On a terminal, the display has a line for each running operation and is updated in place.
/// Otherwise it prints a line every five seconds.
public final class ProgramObservation {
  private let options: TraceOptions
  /// The trace that is written during the run.
  private let file: TraceFile?
  /// The recorder of the traces that are written after the run.
  private let recorder: TraceRecorder?
  private let progress: LiveProgress?

  /// Creates an observation, and the files.
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
    // Created in advance, so that a failure is known before the work is done. A terminal or a pipe
    // would show the contents of an empty trace.
    for path in paths where (try? FileStatus(ofFile: path))?.kind != .other {
      try TraceFile(path).close()
    }
    let needsRecorder = options.timeline != nil || options.trace != nil && file == nil
    recorder = needsRecorder ? TraceRecorder() : nil
    progress = output.map { LiveProgress(on: $0) }
  }

  /// The environment of the run, with the observers.
  public var environment: OperationEnvironment {
    var environment = OperationEnvironment()
    if let file { environment.observers.append(file) }
    if let recorder { environment.observers.append(recorder) }
    if let progress { environment.observers.append(progress.observer) }
    return environment
  }

  /// Removes the progress display.
  public func endProgress() { progress?.end() }

  /// Writes the files. Call it after the run.
  ///
  /// - Throws: `TraceFileError` if a file cannot be written.
  public func end() throws {
    let trace = recorder?.trace
    if let path = options.timeline { try trace?.write(to: path) }
    if let path = options.trace, file == nil { try trace?.write(to: path) }
    try file?.close()
  }

  // Closes the trace that is written during the run, in any case.
  deinit { try? file?.close() }
}
