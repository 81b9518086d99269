import CompositeOperations

/// Sees a flow for whoever runs the program: the files that it asked for, and the progress.
final class FlowObservation {
  private let options: FlowOptions
  /// What is written as it runs.
  private let file: TraceFile?
  /// What is written in the end.
  private let recorder: TraceRecorder?
  private let progress: LiveProgress?

  /// - Parameters:
  ///   - options: Which files are to be written.
  ///   - output: Where progress is shown; nil for nowhere.
  /// - Throws: ``TraceFileError`` if a file cannot be made.
  init(_ options: FlowOptions, progressOn output: StandardError? = nil) throws {
    self.options = options
    file = try options.trace.flatMap { path in
      try TraceFormat(ofFile: path).map { try TraceFile(path, format: $0) }
    }
    let paths = [options.timeline, file == nil ? options.trace : nil].compactMap(\.self)
    // Made beforehand, so that one that cannot be made is known before the work is done. A terminal or a pipe would
    // show what an empty one is.
    for path in paths where (try? FileStatus(of: RawPath(path)))?.kind != .other {
      try TraceFile(path).close()
    }
    let needsRecorder = options.timeline != nil || options.trace != nil && file == nil
    recorder = needsRecorder ? TraceRecorder() : nil
    progress = output.map { LiveProgress(on: $0) }
  }

  /// What the flow has to run in.
  var environment: OperationEnvironment {
    var environment = OperationEnvironment()
    if let file { environment.observers.append(file) }
    if let recorder { environment.observers.append(recorder) }
    if let progress { environment.observers.append(progress.observer) }
    return environment
  }

  /// Takes the progress away.
  func endProgress() { progress?.end() }

  /// Writes the files.
  ///
  /// - Throws: ``TraceFileError`` if one cannot be written.
  func end() throws {
    let trace = recorder?.trace
    if let path = options.timeline { try trace?.write(to: path) }
    if let path = options.trace, file == nil { try trace?.write(to: path) }
    try file?.close()
  }

  // What is written as it runs is closed in any case.
  deinit { try? file?.close() }
}
