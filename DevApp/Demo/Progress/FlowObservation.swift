import CompositeOperations
import OperationTracing
import SystemSupport

/// The observation of a flow: the requested trace files, and the progress display.
final class FlowObservation {
  private let options: FlowOptions
  /// The trace that is written during the run.
  private let file: TraceFile?
  /// The recorder of the traces that are written after the run.
  private let recorder: TraceRecorder?
  private let progress: LiveProgress?

  /// - Parameters:
  ///   - options: The requested files.
  ///   - output: The destination of the progress display; nil for none.
  /// - Throws: ``TraceFileError`` if a file cannot be created.
  init(_ options: FlowOptions, progressOn output: StandardError? = nil) throws {
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

  /// The environment for the flow.
  var environment: OperationEnvironment {
    var environment = OperationEnvironment()
    if let file { environment.observers.append(file) }
    if let recorder { environment.observers.append(recorder) }
    if let progress { environment.observers.append(progress.observer) }
    return environment
  }

  /// Removes the progress display.
  func endProgress() { progress?.end() }

  /// Writes the files.
  ///
  /// - Throws: ``TraceFileError`` if a file cannot be written.
  func end() throws {
    let trace = recorder?.trace
    if let path = options.timeline { try trace?.write(to: path) }
    if let path = options.trace, file == nil { try trace?.write(to: path) }
    try file?.close()
  }

  // Closes the trace that is written during the run, in any case.
  deinit { try? file?.close() }
}
