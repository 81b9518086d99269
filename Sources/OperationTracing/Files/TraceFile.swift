public import CompositeOperations
internal import SystemSupport

/// An observer that writes runs to a file as they end.
///
/// ```swift
/// let file = try TraceFile("trace.json")
/// let outcome = await sync.observed(by: file).run()
/// try file.close()
/// ```
///
/// Its memory grows with the number of unfinished runs, and not with the number of ended ones. It
/// writes 256 ended runs at a time, on the thread of the last of them. Another run waits for that
/// only if it fills a block too.
///
/// A write error does not affect the runs; ``close()`` throws it. (If the file is a pipe without a
/// reader, the system terminates a program that does not ignore `SIGPIPE`.) A file that is released
/// before it is closed is closed then. After a crash, the file lacks the unfinished runs and at
/// most 256 others. Its contents can still be read: an OpenTelemetry file line by line, and a
/// Chrome trace because the `]` at its end may be missing.
public final class TraceFile: OperationObserver {
  /// The path of the file.
  public let path: String
  /// The format of the file.
  public let format: TraceFormat
  private let beginning: TraceBeginning
  private let machine: BusyLock<StateMachine>
  // Events take this lock only if they fill a block. Blocks are taken from the machine while it is
  // held, so they are written in order, and none is written after the ending.
  private let output: BusyLock<Output>

  /// Creates the file, or empties an existing one.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - format: The format; nil for the format that the ending of the path implies, or
  ///     ``TraceFormat/chrome`` for other endings.
  ///   - service: The name of the program in the trace; nil for the name of its executable file.
  /// - Throws: ``TraceFileError`` if the file cannot be created.
  public init(_ path: String, format: TraceFormat? = nil, service: String? = nil) throws {
    self.path = path
    self.format = format ?? TraceFormat(ofFile: path) ?? .chrome
    let beginning = TraceBeginning()
    let service = service ?? SystemProcess.programName
    let encoder: any TraceEncoder =
      switch self.format {
      case .chrome: ChromeEncoder(service: service)
      case .openTelemetry:
        OpenTelemetryEncoder(
          service: service, seed: beginning.seed, beginning: beginning.wallClock)
      }
    self.beginning = beginning
    machine = BusyLock(StateMachine(from: beginning.time))
    do throws(SystemError) {
      output = BusyLock(
        Output(
          try .open(path, .writeOnly, [.create, .truncate], permissions: 0o644), encoder: encoder))
    } catch {
      throw TraceFileError(path: path, system: error)
    }
  }

  deinit { finish() }

  public func observe(_ event: OperationEvent) {
    guard let entry = TraceEntry(event) else { return }
    if machine.withLock({ $0.observed(entry) }) { writeBlock() }
  }

  /// Writes the remaining runs and closes the file.
  ///
  /// Runs that have not ended are written as unfinished, and later events are ignored. Further
  /// calls only throw the same error again.
  ///
  /// - Throws: ``TraceFileError`` if anything could not be written, at every call.
  public func close() throws {
    if let error = finish() { throw TraceFileError(path: path, system: error) }
  }

  private func writeBlock() {
    output.withLock { output in
      let block = machine.withLock { $0.taken() }
      output.write(block, now: beginning.elapsed)
      if output.error != nil { machine.withLock { $0.failed() } }
    }
  }

  @discardableResult private func finish() -> SystemError? {
    output.withLock { output in
      if let rest = machine.withLock({ $0.closed() }) {
        output.write(rest, now: beginning.elapsed)
        output.writeEnding()
      }
      output.close()
      return output.error
    }
  }
}
