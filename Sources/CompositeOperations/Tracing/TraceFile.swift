/// Writes what ran into a file, each run when it has ended.
///
/// ```swift
/// let file = try TraceFile("trace.json")
/// let outcome = await sync.observed(by: file).run()
/// try file.close()
/// ```
///
/// What it keeps in memory grows with the runs that go on, and not with those that have ended. It writes 256
/// ended runs at a time, on the thread of the last of them; no other run waits for that unless it fills a
/// block too.
///
/// An error while writing does not concern the runs: ``close()`` throws it. (Where the file is a pipe that nobody
/// reads any more the system ends a program that does not ignore `SIGPIPE`.) A file that is dropped without
/// being closed is closed then. One whose program died lacks the runs that went on and at most 256 others:
/// as lines of OpenTelemetry what is there can be read, and as trace of Chrome too, because the `]` at
/// its end may be missing.
public final class TraceFile: OperationObserver {
  /// The name of the file.
  public let path: String
  /// How it is written.
  public let format: TraceFormat
  private let beginning: TraceBeginning
  private let machine: BusyLock<StateMachine>
  // Events do not pass this one but where they fill a block. What is written is taken under it, so that
  // blocks come in their order and nothing behind the end.
  private let output: BusyLock<Output>

  /// Makes the file, or empties the one that is there.
  ///
  /// - Parameters:
  ///   - path: The name of the file.
  ///   - format: How it is written; nil for what the name says by its ending, ``TraceFormat/chrome`` if it
  ///     says nothing.
  ///   - service: What the program is called in the trace; nil for the name of its file.
  /// - Throws: ``TraceFileError`` if the file cannot be made.
  public init(_ path: String, format: TraceFormat? = nil, service: String? = nil) throws {
    self.path = path
    self.format = format ?? TraceFormat(ofFile: path) ?? .chrome
    let beginning = TraceBeginning()
    let service = service ?? ProgramName.current
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
      output = BusyLock(Output(try OutputFile(creating: path), encoder: encoder))
    } catch {
      throw TraceFileError(path: path, system: error)
    }
  }

  deinit { finish() }

  public func observe(_ event: OperationEvent) {
    guard let entry = TraceEntry(event) else { return }
    if machine.withLock({ $0.observed(entry) }) { writeBlock() }
  }

  /// Writes what is left, and closes the file: what goes on is written as unfinished, and events that come
  /// later are lost. Once it is closed it does nothing more.
  ///
  /// - Throws: ``TraceFileError`` if anything could not be written, every time.
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
