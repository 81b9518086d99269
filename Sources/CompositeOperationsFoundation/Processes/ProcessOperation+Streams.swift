extension ProcessOperation {
  /// The same with something to read on standard input. By default there is nothing.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let sorted = ProcessOperation("sort").reading(.text("b\na\n"))
  /// ```
  ///
  /// A program that ends, or closes its input, before it has read everything is no error.
  public func reading(_ input: ProcessInput) -> ProcessOperation {
    changed { $0.input = input }
  }

  /// The same with standard output going elsewhere. By default its first 16 MiB are kept.
  ///
  /// It takes the place of ``onOutputLine(_:)`` if the output is not kept.
  public func sendingOutput(to destination: ProcessOutput.Destination) -> ProcessOperation {
    changed { $0.output.send(to: destination) }
  }

  /// The same with standard error going elsewhere. By default its last 64 KiB are kept.
  ///
  /// It takes the place of ``onErrorLine(_:)`` if the output is not kept, and that of ``mergingErrorOutput()``.
  public func sendingErrorOutput(to destination: ProcessOutput.Destination) -> ProcessOperation {
    changed {
      $0.isMerged = false
      $0.errorOutput.send(to: destination)
    }
  }

  /// The same with standard error going where standard output goes, in the order in which the program writes.
  ///
  /// All of it is then in ``ProcessResult/output``. It takes the place of ``sendingErrorOutput(to:)`` and of
  /// ``onErrorLine(_:)``, as each of them takes its place: the last one counts.
  public func mergingErrorOutput() -> ProcessOperation {
    changed {
      $0.isMerged = true
      $0.errorOutput = .standardError
    }
  }

  /// The same with each line of standard output handed over as it comes.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let build = ProcessOperation("swift", "build").onOutputLine { line in print(line) }
  /// ```
  ///
  /// Lines end with a line feed, or with a carriage return and a line feed; neither is part of the line. The last
  /// one need not end. Bytes that are not UTF-8 become U+FFFD, and a line of more than 1 MiB comes in parts, none of
  /// which is longer. When the run has been cancelled no line is handed over any more.
  ///
  /// What is kept is kept all the same. Where the output went to a file or nowhere, nothing is kept.
  ///
  /// - Parameter body: Is called in the run's task, never twice at the same time, not even for the other stream. A
  ///   program that writes faster than it takes the lines waits. An error that it throws ends the process group as
  ///   a cancellation does, and is the error of the run.
  public func onOutputLine(
    _ body: nonisolated(nonsending) @escaping @Sendable (String) async throws -> Void
  ) -> ProcessOperation {
    changed { $0.output.hand(to: body) }
  }

  /// The same with each line of standard error handed over as it comes, in the way of ``onOutputLine(_:)``.
  ///
  /// It takes the place of ``mergingErrorOutput()``.
  ///
  /// - Parameter body: Is called in the run's task, never twice at the same time, not even for the other stream. An
  ///   error that it throws ends the process group as a cancellation does, and is the error of the run.
  public func onErrorLine(
    _ body: nonisolated(nonsending) @escaping @Sendable (String) async throws -> Void
  ) -> ProcessOperation {
    changed {
      $0.isMerged = false
      $0.errorOutput.hand(to: body)
    }
  }

  func changed(_ change: (inout ProcessOperation) -> Void) -> ProcessOperation {
    var copy = self
    change(&copy)
    return copy
  }
}
