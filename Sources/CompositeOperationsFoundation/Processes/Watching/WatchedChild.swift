internal import CProcesses

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A process that a thread watches, with the descriptors that belong to it.
// Not Sendable: only the thread that watches it knows it.
final class WatchedChild {
  let child: ChildProcess
  private(set) var isOver = false
  private let identifier: UInt64
  private let watch: Int32
  private let hasVanished: Bool
  private var machine: StateMachine
  /// What tells of the end; nil when it has.
  private var end: Descriptor?
  private let input: InputFeed
  private let output: OutputReader
  private let errorOutput: OutputReader

  var deadline: StateMachine.Moment? { machine.deadline }

  /// Starts the program.
  ///
  /// - Throws: ``ProcessLaunchError``. Then nothing runs and nothing is open.
  init(
    _ child: ChildProcess, identifier: UInt64, watch: Int32
  ) throws(ProcessLaunchError) {
    let operation = child.operation
    var launched = try ProcessLauncher(operation: operation).launch()
    var end: Int32 = -1
    let error = unsafe process_watch_add_end(
      watch, launched.identifier, WatchedPart.end.token(of: identifier), &end)
    // Where it has ended and is forgotten already, because the program ignores SIGCHLD.
    hasVanished = error == ESRCH
    if error != 0, !hasVanished {
      process_abandon(launched.identifier)
      throw ProcessLaunchError(operation, .system(ProcessLaunchError.Failure(code: error)))
    }
    self.child = child
    self.identifier = identifier
    self.watch = watch
    self.end = end >= 0 ? Descriptor(end) : nil
    machine = StateMachine(grace: operation.grace, drainTime: operation.drainTime)
    input = InputFeed(operation.input, into: launched.input.take())
    output = OutputReader(
      operation.output, evidence: operation.isMerged ? OutputReader.evidenceLimit : 0,
      from: launched.output.take())
    errorOutput = OutputReader(
      operation.errorOutput, evidence: OutputReader.evidenceLimit,
      from: launched.errorOutput.take())
    child.hold.began(launched.identifier)
    if operation.launchHook != nil {
      child.mailbox.launched(RunningProcess(child.hold, identifier: launched.identifier))
    }
  }

  /// Begins to watch what the process reads and writes.
  func began(_ buffer: inout [UInt8]) {
    for stream in OutputStream.allCases { watchOutput(stream) }
    feed()
    if !hasOpenOutput { perform(machine.outputEnded()) }
    if hasVanished { programEnded(&buffer) }
  }

  func ready(_ part: WatchedPart, _ buffer: inout [UInt8]) {
    switch part {
    case .end: programEnded(&buffer)
    case .output: read(.output, &buffer, atMost: OutputReader.patience)
    case .errorOutput: read(.errorOutput, &buffer, atMost: OutputReader.patience)
    case .input: feed()
    }
  }

  func cancelled() { perform(machine.cancelled(at: .now)) }

  func timePassed() { perform(machine.timePassed(at: .now)) }

  func resumeReading(_ stream: OutputStream) {
    watchOutput(stream)
  }

  private func programEnded(_ buffer: inout [UInt8]) {
    removeEnd()
    // What it wrote is all there by now, also where nobody was to read on for the time being.
    for stream in OutputStream.allCases {
      read(stream, &buffer, atMost: OutputReader.mostInPipe)
    }
    input.close(on: watch)
    perform(machine.programEnded(at: .now))
  }

  private func perform(_ action: StateMachine.Action) {
    switch action {
    case .none: break
    case .terminate:
      _ = child.hold.send(.terminate, to: .group)
      // Those that are suspended hear of it only when they go on.
      _ = child.hold.send(.goOn, to: .group)
    case .kill: _ = child.hold.send(.kill, to: .group)
    case .lookAtGroup: perform(machine.looked(lives: child.hold.groupLives, at: .now))
    case .finish: finish()
    case .killAndFinish:
      _ = child.hold.send(.kill, to: .group)
      finish()
    }
  }

  private func finish() {
    isOver = true
    output.close(on: watch)
    errorOutput.close(on: watch)
    input.close(on: watch)
    removeEnd()
    switch child.hold.reap() {
    case .success(let status):
      let result = ProcessResult(
        status: status, output: output.kept, errorOutput: errorOutput.kept)
      let evidence = child.operation.isMerged ? output.evidence : errorOutput.evidence
      child.mailbox.ended(.success(ChildEnd(result: result, lastErrorOutput: evidence)))
    case .failure: child.mailbox.ended(.failure(ProcessStatusLostError(child.operation)))
    }
  }
}

// MARK: - Descriptors

extension WatchedChild {
  private subscript(stream: OutputStream) -> OutputReader {
    switch stream {
    case .output: output
    case .errorOutput: errorOutput
    }
  }

  private var hasOpenOutput: Bool { output.isOpen || errorOutput.isOpen }

  private func watchOutput(_ stream: OutputStream) {
    let part: WatchedPart =
      switch stream {
      case .output: .output
      case .errorOutput: .errorOutput
      }
    self[stream].watch(on: watch, as: part.token(of: identifier))
  }

  /// Reads what is there, or so many bytes of it.
  private func read(_ stream: OutputStream, _ buffer: inout [UInt8], atMost limit: Int) {
    let reader = self[stream]
    var left = limit
    while left > 0, let count = reader.read(into: &buffer) {
      if count == 0 {
        reader.close(on: watch)
        if !hasOpenOutput { perform(machine.outputEnded()) }
        return
      }
      left -= count
      if !reader.handsLines || machine.isCancelled { continue }
      if child.mailbox.wrote(buffer[..<count], to: stream) {
        reader.pause(on: watch)
        if limit == OutputReader.patience { return }
      }
    }
  }

  private func feed() { input.feed(on: watch, as: WatchedPart.input.token(of: identifier)) }

  private func removeEnd() {
    if let number = end?.number { process_watch_remove(watch, number, process_interest_end) }
    end = nil
  }
}
