public import CompositeOperations

extension ProcessOperation {
  /// Runs the program.
  ///
  /// If the run is cancelled, `lateOutcome` of the handle is the result or error of the program.
  ///
  /// - Returns: The status of the program, and the output that was kept.
  /// - Throws: ``ProcessLaunchError`` if the program cannot be started, ``ProcessExitError`` if its
  ///   status is not a success, ``ProcessOutputError`` if its output is not whole,
  ///   ``ProcessStatusLostError`` if its status is unknown,
  ///   ``ProcessLeftRunningError`` if the run is cancelled and this process has no permission to
  ///   signal the program, `CancellationError` if the run is cancelled before the start, and the
  ///   errors of the closures for lines.
  public nonisolated(nonsending) func perform(
    in context: OperationContext
  ) async throws -> ProcessResult {
    let child = try ChildProcess(configuration)
    child.begin()
    return try await withTaskCancellationHandler {
      do {
        return try await follow(child)
      } catch {
        child.cancel()
        while await child.next().completion == nil {}
        throw error
      }
    } onCancel: {
      child.cancel()
    }
  }

  /// Delivers the events of the program until it is over.
  private nonisolated(nonsending) func follow(
    _ child: ChildProcess
  ) async throws -> ProcessResult {
    var outputLines = LineSplitter()
    var errorLines = LineSplitter()
    while true {
      let update = await child.next()
      if let process = update.launched { configuration.onLaunch?(process) }
      try await deliver(outputLines.append(update.output), to: configuration.output.lineHandler)
      try await deliver(
        errorLines.append(update.errorOutput), to: configuration.errorOutput.lineHandler)
      if let completion = update.completion {
        try await deliver(outputLines.finish(), to: configuration.output.lineHandler)
        try await deliver(errorLines.finish(), to: configuration.errorOutput.lineHandler)
        return try result(of: completion.get())
      }
    }
  }

  private nonisolated(nonsending) func deliver(
    _ lines: [String], to handler: OutputConfiguration.LineHandler?
  ) async throws {
    guard let handler else { return }
    for line in lines {
      if Task.isCancelled { return }
      try await handler(line)
    }
  }

  private func result(of completion: ProcessCompletion) throws -> ProcessResult {
    let result = completion.result
    // Its status comes first, unless the program was ended because of its output.
    if !configuration.isSuccess(result.status), completion.outputProblem?.endsProgram != true {
      throw ProcessExitError(configuration, result, lastErrorOutput: completion.lastErrorOutput)
    }
    if let reason = completion.outputProblem {
      throw ProcessOutputError(configuration, result, reason)
    }
    return result
  }
}
