public import CompositeOperations
internal import SystemSupport

/// An operation that runs programs at the same time, each with the output of the one before it as
/// its standard input.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let words = ProcessOperation("tr", "-cs", "a-z", "\\n").reading(.file("text"))
///   .piped(into: ProcessOperation("sort"))
///   .piped(into: ProcessOperation("uniq", "-c"))
/// let result = try await words.run().get()
/// print(result.output.lines)
/// ```
///
/// The programs are connected by pipes of the system, so their bytes do not pass through this
/// process. No shell is involved. Each program has its own settings: the input of the first one,
/// the output of the last one, and the variables, the standard error and the accepted statuses of
/// each. An output that is piped, and an input that is read from a pipe, replace an earlier
/// destination and an earlier input.
///
/// If a program fails, the others are cancelled, and the run ends in a ``ProcessPipelineError``
/// that names every program that has failed by itself. A program that SIGPIPE has ended, because
/// the next one has not read all of its output, has not failed: `yes | head -1` is a success.
public struct ProcessPipeline: ComposableOperation {
  /// The programs, from the first to the last.
  public let programs: [ProcessOperation]

  /// The names of the programs, such as `sort | uniq`.
  public var operationName: String {
    programs.map(\.operationName).joined(separator: " | ")
  }

  /// Returns a pipeline with another program, which reads the output of the last one.
  ///
  /// - Parameter next: The program at the end.
  public func piped(into next: ProcessOperation) -> ProcessPipeline {
    ProcessPipeline(programs: programs + [next])
  }

  /// Runs the programs to the end of all of them.
  ///
  /// - Returns: The results of all programs.
  /// - Throws: ``ProcessPipelineError`` if a program fails, ``ProcessLaunchError`` if no pipe can
  ///   be made, and `CancellationError` if the run is cancelled.
  public nonisolated(nonsending) func perform(
    in context: OperationContext
  ) async throws -> ProcessPipelineResult {
    var ends = [Result<ProcessResult, any Error>?](repeating: nil, count: programs.count)
    // The programs that failed because they were cancelled, and not by themselves.
    var cancelled: Set<Int> = []
    let connected = try connected()
    await withTaskGroup(of: End.self) { group in
      for (index, program) in connected.enumerated() {
        group.addTask { await End(of: program, at: index, in: context) }
      }
      while let ended = await group.next() {
        let end = accepted(ended.result, at: ended.index)
        ends[ended.index] = end
        // Nothing reads the output of the programs before it, or writes the input of those after
        // it.
        if case .failure(let error) = end {
          if error.isOfCancelledProgram(group.isCancelled) { cancelled.insert(ended.index) }
          group.cancelAll()
        }
      }
    }
    return try result(ends.compactMap(\.self), cancelled)
  }

  /// The end of a program. Not a tuple: see the facts about the toolchain in
  /// Documentation/Maintaining.md.
  private struct End {
    let index: Int
    let result: Result<ProcessResult, any Error>

    nonisolated(nonsending) init(
      of program: ProcessOperation, at index: Int, in context: OperationContext
    ) async {
      self.index = index
      do { result = .success(try await program.perform(in: context)) } catch {
        result = .failure(error)
      }
    }
  }

  /// The programs with pipes between them.
  private func connected() throws(ProcessLaunchError) -> [ProcessOperation] {
    var connected = programs
    for index in connected.indices.dropLast() {
      do throws(SystemError) {
        let (reader, writer) = try PipeEnd.pair()
        connected[index].configuration.output.send(to: .init(kind: .pipe(writer)))
        connected[index + 1].configuration.input = ProcessInput(kind: .pipe(reader))
      } catch {
        throw ProcessLaunchError(programs[index].configuration, .system(.init(error)))
      }
    }
    return connected
  }

  /// Returns the end of a program; a result if SIGPIPE has ended it before its reader has read all.
  private func accepted(
    _ end: Result<ProcessResult, any Error>, at index: Int
  ) -> Result<ProcessResult, any Error> {
    if index < programs.count - 1, case .failure(let error as ProcessExitError) = end,
      error.result.status == .signalled(.brokenPipe)
    {
      return .success(error.result)
    }
    return end
  }

  private func result(
    _ ends: [Result<ProcessResult, any Error>], _ cancelled: Set<Int>
  ) throws -> ProcessPipelineResult {
    var failures: [ProcessPipelineError.Failure] = []
    var consequence: (any Error)?
    for (index, end) in ends.enumerated() {
      guard case .failure(let error) = end else { continue }
      if cancelled.contains(index) {
        consequence = consequence ?? error
      } else {
        failures.append(.init(position: index + 1, error: error))
      }
    }
    if !failures.isEmpty { throw ProcessPipelineError(programs: programs, failures: failures) }
    if let consequence { throw consequence }
    return ProcessPipelineResult(results: try ends.map { try $0.get() })
  }
}

extension ProcessOperation {
  /// Returns a pipeline: this program, and another one that reads its standard output.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let newest = ProcessOperation("ls", "-t").piped(into: ProcessOperation("head", "-n", "1"))
  /// print(try await newest.run().get().output.text)
  /// ```
  ///
  /// With ``mergingErrorOutput()``, the next program also reads the standard error of this one.
  ///
  /// - Parameter next: The program that reads the output.
  public func piped(into next: ProcessOperation) -> ProcessPipeline {
    ProcessPipeline(programs: [self, next])
  }
}

/// The results of the programs of a pipeline.
public struct ProcessPipelineResult: Sendable, Hashable {
  /// The results, from the first program to the last.
  public let results: [ProcessResult]

  /// The output of the last program.
  public var output: ProcessOutput { results.last?.output ?? ProcessOutput() }
}

extension Error {
  /// Whether a program failed because its run was cancelled, and not by itself.
  ///
  /// - Parameter isCancelled: Whether the pipeline was cancelled, or another program had failed. If
  ///   not, only code that has the process could signal it.
  fileprivate func isOfCancelledProgram(_ isCancelled: Bool) -> Bool {
    switch self {
    case is CancellationError: true
    case let exit as ProcessExitError: isCancelled && exit.result.wasSignalled
    default: false
    }
  }
}
