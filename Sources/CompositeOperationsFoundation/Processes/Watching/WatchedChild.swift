internal import CProcesses
internal import SystemSupport

/// A process that a thread watches, with its descriptors.
// Not Sendable: only the thread that watches it uses it.
final class WatchedChild {
  let child: ChildProcess
  /// The process identifier of the program, which leads the group.
  let leader: Int32
  private(set) var isOver = false
  /// Whether to check if any process of the group is left.
  private(set) var isGroupCheckDue = false
  private let identifier: UInt64
  private let watch: Int32
  private var machine: StateMachine
  /// The descriptor that signals the end; nil after the signal.
  private var end: OwnedFileDescriptor?
  /// The schedule for polling the end, if no descriptor signals it.
  private var endPolling: PollSchedule?
  private let input: InputWriter
  private let output: OutputReader
  private let errorOutput: OutputReader

  /// The time of the next call of ``timePassed(_:)``.
  var deadline: StateMachine.Instant? {
    guard let poll = endPolling?.nextPoll else { return machine.deadline }
    return machine.deadline.map { min($0, poll) } ?? poll
  }

  var isAwaitingGroup: Bool { machine.isAwaitingGroup }

  /// Starts the program.
  ///
  /// - Throws: ``ProcessLaunchError``. No program runs then, and no descriptor is open.
  init(
    _ child: ChildProcess, identifier: UInt64, watch: Int32
  ) throws(ProcessLaunchError) {
    let configuration = child.configuration
    var launched = try ProcessLauncher(configuration: configuration).launch()
    var end: Int32 = -1
    let error = unsafe process_watch_add_end(
      watch, launched.identifier, WatchedPart.end.token(of: identifier), &end)
    // The program is running, even if there is no descriptor left to watch it, or no such
    // descriptor on this system.
    if error != 0 { endPolling = PollSchedule(from: .now) }
    self.child = child
    self.identifier = identifier
    self.watch = watch
    leader = launched.identifier
    self.end = end >= 0 ? OwnedFileDescriptor(FileDescriptor(rawValue: end)) : nil
    machine = StateMachine(
      gracePeriod: configuration.gracePeriod, drainTime: configuration.drainTime)
    input = InputWriter(configuration.input, child.input, into: launched.input.take())
    output = OutputReader(
      configuration.output, errorTail: configuration.isMerged ? OutputReader.errorTailLimit : 0,
      from: launched.output.take())
    errorOutput = OutputReader(
      configuration.errorOutput, errorTail: OutputReader.errorTailLimit,
      from: launched.errorOutput.take())
    child.reaper.started(launched.identifier)
    if configuration.onLaunch != nil {
      child.mailbox.launched(RunningProcess(child.reaper, identifier: launched.identifier))
    }
  }

  /// Begins to watch the standard streams of the process.
  func began() {
    for stream in OutputStream.allCases { watchOutput(stream) }
    writeInput()
    if !hasOpenOutput { perform(machine.outputEnded()) }
  }

  func ready(_ part: WatchedPart, _ buffer: inout [UInt8]) {
    switch part {
    case .end: checkForEnd(&buffer, at: .now)
    case .output: read(.output, &buffer, atMost: OutputReader.bytesPerTurn)
    case .errorOutput: read(.errorOutput, &buffer, atMost: OutputReader.bytesPerTurn)
    case .input: writeInput()
    }
  }

  func cancelled() { perform(machine.cancelled(at: .now)) }

  func timePassed(_ buffer: inout [UInt8]) {
    let now = SuspendingClock.now
    if let poll = endPolling?.nextPoll, poll <= now { checkForEnd(&buffer, at: now) }
    perform(
      machine.timePassed(at: now, isReadingPaused: output.isPaused || errorOutput.isPaused))
  }

  /// - Parameter isRunning: Whether any process of the group is left.
  func groupChecked(isRunning: Bool, _ buffer: inout [UInt8]) {
    isGroupCheckDue = false
    if !isRunning { readAvailable(&buffer) }
    perform(machine.groupChecked(isRunning: isRunning, at: .now))
  }

  func resumeReading(_ stream: OutputStream) {
    watchOutput(stream)
    machine.readingResumed(at: .now)
  }

  private func checkForEnd(_ buffer: inout [UInt8], at now: PollSchedule.Instant) {
    removeEnd()
    if process_has_ended(leader) {
      endPolling = nil
      programEnded(&buffer)
    } else {
      // A tracer is notified of the end first, and there is no signal when it has finished.
      var polling = endPolling ?? PollSchedule(from: now)
      polling.pollFailed(at: now)
      endPolling = polling
    }
  }

  private func programEnded(_ buffer: inout [UInt8]) {
    readAvailable(&buffer)
    input.close(on: watch)
    perform(machine.programEnded(at: .now))
  }

  /// Reads the available bytes, even if reading is paused.
  private func readAvailable(_ buffer: inout [UInt8]) {
    for stream in OutputStream.allCases {
      read(stream, &buffer, atMost: OutputReader.pipeCapacity)
    }
  }

  private func perform(_ action: StateMachine.Action) {
    switch action {
    case .none: break
    case .terminate:
      _ = child.reaper.send(.terminate, to: .group)
      // Suspended processes handle SIGTERM only when they are resumed.
      _ = child.reaper.send(.goOn, to: .group)
    case .kill:
      if !child.reaper.killGroup() { perform(machine.killDenied()) }
    case .checkGroup: isGroupCheckDue = true
    case .finish: finish()
    case .killAndFinish:
      _ = child.reaper.send(.kill, to: .group)
      finish()
    case .abandon:
      closeStreams()
      let error = ProcessLeftRunningError(child.configuration, identifier: leader)
      child.mailbox.completed(.failure(error))
    case .forget:
      isOver = true
      _ = child.reaper.reap()
    }
  }

  private func closeStreams() {
    output.close(on: watch)
    errorOutput.close(on: watch)
    input.close(on: watch)
  }

  private var outputProblem: ProcessOutputError.Reason? {
    if let limit = output.exceededLimit { return .outputLimit(limit) }
    if let limit = errorOutput.exceededLimit { return .errorOutputLimit(limit) }
    let configuration = child.configuration
    return machine.isOutputHeldOpen && !configuration.acceptsOpenOutput
      ? .heldOpen(configuration.drainTime) : nil
  }

  private func finish() {
    isOver = true
    closeStreams()
    switch child.reaper.reap() {
    case .success(let status):
      let result = ProcessResult(
        status: status, output: output.kept, errorOutput: errorOutput.kept,
        wasSignalled: child.reaper.wasSignalled)
      let errorTail = child.configuration.isMerged ? output.errorTail : errorOutput.errorTail
      child.mailbox.completed(
        .success(
          ProcessCompletion(
            result: result, lastErrorOutput: errorTail, outputProblem: outputProblem)))
    case .failure: child.mailbox.completed(.failure(ProcessStatusLostError(child.configuration)))
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

  /// Reads the available bytes, up to a limit.
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
      if reader.exceededLimit != nil { perform(machine.limitExceeded(at: .now)) }
      if !reader.isHandled || machine.isCancelled { continue }
      if child.mailbox.received(buffer[..<count], from: stream) {
        reader.pause(on: watch)
        if limit == OutputReader.bytesPerTurn { return }
      }
    }
  }

  func writeInput() { input.write(on: watch, as: WatchedPart.input.token(of: identifier)) }

  private func removeEnd() {
    if let number = end?.descriptor.rawValue {
      process_watch_remove(watch, number, process_interest_end)
    }
    end = nil
  }
}

/// The parts of a process that are watched.
enum WatchedPart: UInt64 {
  case end
  case output
  case errorOutput
  case input

  /// The token that identifies the part when it is ready.
  func token(of identifier: UInt64) -> UInt64 { identifier << 2 | rawValue }

  static func parts(of token: UInt64) -> (identifier: UInt64, part: WatchedPart) {
    // Two bits have four values.
    (token >> 2, WatchedPart(rawValue: token & 3) ?? .end)
  }
}
