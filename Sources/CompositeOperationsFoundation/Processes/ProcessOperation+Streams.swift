extension ProcessOperation {
  /// Returns a copy with a standard input. By default, it is empty.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let sorted = ProcessOperation("sort").reading(.text("b\na\n"))
  /// ```
  ///
  /// It is no error if the program ends, or closes its input, before it has read everything.
  ///
  /// - Parameter input: The standard input of the program.
  public func reading(_ input: ProcessInput) -> ProcessOperation {
    configured { $0.input = input }
  }

  /// Returns a copy with another destination of standard output. By default, the first 16 MiB are
  /// kept.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let build = ProcessOperation("make").sendingOutput(to: .file("build.log"))
  /// ```
  ///
  /// A destination that is not `kept` replaces ``onOutputLine(_:)``.
  ///
  /// - Parameter destination: The destination of the output.
  public func sendingOutput(to destination: ProcessOutput.Destination) -> ProcessOperation {
    configured { $0.output.send(to: destination) }
  }

  /// Returns a copy with another destination of standard error. By default, the last 64 KiB are
  /// kept.
  ///
  /// This replaces ``mergingErrorOutput()``. A destination that is not `kept` also replaces
  /// ``onErrorLine(_:)``.
  ///
  /// - Parameter destination: The destination of the output.
  public func sendingErrorOutput(to destination: ProcessOutput.Destination) -> ProcessOperation {
    configured {
      $0.isMerged = false
      $0.errorOutput.send(to: destination)
    }
  }

  /// Returns a copy that sends standard error to the destination of standard output, in the order
  /// in which the program writes.
  ///
  /// ``ProcessResult/output`` then contains both. This replaces ``sendingErrorOutput(to:)`` and
  /// ``onErrorLine(_:)``, and each of them replaces this: the last one counts.
  public func mergingErrorOutput() -> ProcessOperation {
    configured {
      $0.isMerged = true
      $0.errorOutput = .standardError
    }
  }

  /// Returns a copy that calls a closure for each line of standard output as it arrives.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let build = ProcessOperation("swift", "build").onOutputLine { line in print(line) }
  /// ```
  ///
  /// A line ends with a line feed, or with a carriage return and a line feed, which are not part of
  /// it. The last line may lack its ending. Bytes that are not UTF-8 become U+FFFD. A line of more
  /// than 1 MiB is delivered in parts of at most 1 MiB. After the run is cancelled, no line is
  /// delivered.
  ///
  /// Kept output stays in the result. Any other destination is replaced, and nothing is kept.
  ///
  /// - Parameter body: Receives a line. It is called in the task of the run, and never
  ///   concurrently, not even for the other output. A program that writes faster than lines are
  ///   handled has to wait. An error that it throws ends the process group as a cancellation does,
  ///   and is the error of the run.
  public func onOutputLine(
    _ body: nonisolated(nonsending) @escaping @Sendable (String) async throws -> Void
  ) -> ProcessOperation {
    configured { $0.output.handleLines(with: body) }
  }

  /// Returns a copy that calls a closure for each line of standard error as it arrives, like
  /// ``onOutputLine(_:)``.
  ///
  /// This replaces ``mergingErrorOutput()``.
  ///
  /// - Parameter body: Receives a line. It is called in the task of the run, and never
  ///   concurrently, not even for the other output. An error that it throws ends the process group
  ///   as a cancellation does, and is the error of the run.
  public func onErrorLine(
    _ body: nonisolated(nonsending) @escaping @Sendable (String) async throws -> Void
  ) -> ProcessOperation {
    configured {
      $0.isMerged = false
      $0.errorOutput.handleLines(with: body)
    }
  }

  func configured(_ change: (inout ProcessConfiguration) -> Void) -> ProcessOperation {
    var copy = self
    change(&copy.configuration)
    return copy
  }
}
