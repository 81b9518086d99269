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
  ///   errors of the closures for output and of a sequence that is the input.
  public nonisolated(nonsending) func perform(
    in context: OperationContext
  ) async throws -> ProcessResult {
    let child = try ChildProcess(configuration)
    child.begin()
    return try await withTaskCancellationHandler {
      if case .stream(let feed) = configuration.input.kind {
        try await followWhileFeeding(child, feed)
      } else {
        try await followToEnd(child)
      }
    } onCancel: {
      child.cancel()
    }
  }

  /// Follows the program, and writes its standard input at the same time.
  private nonisolated(nonsending) func followWhileFeeding(
    _ child: ChildProcess, _ feed: @escaping @Sendable (ChildProcess) async throws -> Void
  ) async throws -> ProcessResult {
    try await withTaskGroup(of: (any Error)?.self) { group in
      group.addTask {
        do {
          try await feed(child)
          // The input of a cancelled run has no end: the program could take a part for the whole.
          if !Task.isCancelled { child.finishInput() }
        } catch {
          // After the end of the program or of its input, or the cancellation of the run, the error
          // has no meaning.
          if !Task.isCancelled, child.input?.isClosed != true {
            child.cancel()
            return error
          }
        }
        return nil
      }
      var result: Result<ProcessResult, any Error>
      do { result = .success(try await followToEnd(child)) } catch { result = .failure(error) }
      // The program may not have been started.
      child.input?.close()
      group.cancelAll()
      if let error = await group.next() ?? nil { result = .failure(error) }
      return result
    }.get()
  }

  /// Follows the program until it has ended, also if a closure throws an error.
  private nonisolated(nonsending) func followToEnd(
    _ child: ChildProcess
  ) async throws -> ProcessResult {
    do {
      return try await follow(child)
    } catch {
      child.cancel()
      while await child.next().completion == nil {}
      throw error
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
      let isEnd = update.completion != nil
      try await deliver(update.output, &outputLines, isEnd, to: configuration.output.handler)
      try await deliver(
        update.errorOutput, &errorLines, isEnd, to: configuration.errorOutput.handler)
      if let completion = update.completion { return try result(of: completion.get()) }
    }
  }

  /// - Parameter isEnd: Whether no bytes follow.
  private nonisolated(nonsending) func deliver(
    _ bytes: [UInt8], _ splitter: inout LineSplitter, _ isEnd: Bool, to handler: OutputHandler?
  ) async throws {
    switch handler {
    case .lines(let handler):
      for line in splitter.append(bytes) + (isEnd ? splitter.finish() : []) {
        if Task.isCancelled { return }
        try await handler(line)
      }
    case .chunks(let handler): if !bytes.isEmpty, !Task.isCancelled { try await handler(bytes) }
    case nil: break
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
