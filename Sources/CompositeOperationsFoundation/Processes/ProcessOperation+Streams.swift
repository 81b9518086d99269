extension ProcessOperation {
  /// Returns a copy with a standard input. By default, it is empty.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let sorted = ProcessOperation("sort").reading(.text("b\na\n"))
  /// ```
  ///
  /// It is no error if the program ends, or closes its input, before it has read all of the input.
  ///
  /// - Parameter input: The standard input of the program.
  public func reading(_ input: ProcessInput) -> ProcessOperation {
    configured { $0.input = input }
  }

  /// Returns a copy with another destination of standard output.
  ///
  /// By default, the result has all of it, and more than 16 MiB are a ``ProcessOutputError``.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let build = ProcessOperation("make").sendingOutput(to: .file("build.log"))
  /// ```
  ///
  /// With ``ProcessOutput/Destination/discarded``, ``ProcessOutput/Destination/inherited`` or a
  /// file, the operation does not read the output, and the closure of an earlier
  /// ``onOutputLine(_:)`` is removed.
  ///
  /// - Parameter destination: The destination of the output.
  public func sendingOutput(to destination: ProcessOutput.Destination) -> ProcessOperation {
    configured { $0.output.send(to: destination) }
  }

  /// Returns a copy with another destination of standard error.
  ///
  /// By default, the result has all of it, and more than 16 MiB are a ``ProcessOutputError``.
  ///
  /// This undoes an earlier ``mergingErrorOutput()``. With ``ProcessOutput/Destination/discarded``,
  /// ``ProcessOutput/Destination/inherited`` or a file, the closure of an earlier
  /// ``onErrorLine(_:)`` is removed.
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
  /// ``ProcessResult/output`` then contains both outputs. This undoes an earlier
  /// ``sendingErrorOutput(to:)`` or ``onErrorLine(_:)``. If one of them is called later, it undoes
  /// this modifier.
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
  /// The closure receives the whole output, so the result has only the first 16 MiB, and the number
  /// of the other bytes. An earlier or later ``sendingOutput(to:)`` chooses another part, or with
  /// ``ProcessOutput/Destination/whole(limit:)`` an error above a limit. This modifier replaces a
  /// destination that is not read, such as a file: only the closure receives the output then, and
  /// the result contains no output.
  ///
  /// - Parameter body: Receives a line. It is called in the task of the run, and never at the same
  ///   time as the closure for standard error. A program that writes faster than lines are handled
  ///   has to wait. If the closure throws an error, the process group is ended as after a
  ///   cancellation, and the run ends in that error.
  public func onOutputLine(
    _ body: nonisolated(nonsending) @escaping @Sendable (String) async throws -> Void
  ) -> ProcessOperation {
    configured { $0.output.handle(with: .lines(body)) }
  }

  /// Returns a copy that calls a closure for each chunk of standard output as it arrives, like
  /// ``onOutputLine(_:)`` does with lines.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let backup = ProcessOperation("tar", "-c", ".").sendingOutput(to: .kept(first: 0))
  ///   .onOutputChunk { chunk in try await sendToServer(chunk) }
  /// ```
  ///
  /// The chunks have the bytes as they were read, in order. Their sizes have no meaning. This
  /// replaces the closure of an earlier ``onOutputLine(_:)``, and the reverse.
  ///
  /// - Parameter body: Receives a chunk, which is not empty. It is called as the closure for lines
  ///   is, and with the same back pressure.
  public func onOutputChunk(
    _ body: nonisolated(nonsending) @escaping @Sendable ([UInt8]) async throws -> Void
  ) -> ProcessOperation {
    configured { $0.output.handle(with: .chunks(body)) }
  }

  /// Returns a copy that calls a closure for each line of standard error as it arrives, like
  /// ``onOutputLine(_:)``. By default, the result has the last 64 KiB.
  ///
  /// This undoes an earlier ``mergingErrorOutput()``.
  ///
  /// - Parameter body: Receives a line. It is called in the task of the run, and never at the same
  ///   time as the closure for standard output. If the closure throws an error, the process group
  ///   is ended as after a cancellation, and the run ends in that error.
  public func onErrorLine(
    _ body: nonisolated(nonsending) @escaping @Sendable (String) async throws -> Void
  ) -> ProcessOperation {
    configured {
      $0.isMerged = false
      $0.errorOutput.handle(with: .lines(body))
    }
  }

  /// Returns a copy that calls a closure for each chunk of standard error as it arrives, like
  /// ``onOutputChunk(_:)``.
  ///
  /// This undoes an earlier ``mergingErrorOutput()``.
  ///
  /// - Parameter body: Receives a chunk, which is not empty. It is called as the closure for lines
  ///   is.
  public func onErrorChunk(
    _ body: nonisolated(nonsending) @escaping @Sendable ([UInt8]) async throws -> Void
  ) -> ProcessOperation {
    configured {
      $0.isMerged = false
      $0.errorOutput.handle(with: .chunks(body))
    }
  }

  func configured(_ change: (inout ProcessConfiguration) -> Void) -> ProcessOperation {
    var copy = self
    change(&copy.configuration)
    return copy
  }
}
