internal import CProcesses

/// A process that a thread watches, with its descriptors.
// Not Sendable: only the thread that watches it uses it.
final class WatchedChild {
  let child: ChildProcess
  /// The process identifier of the program, which leads the group.
  let leader: Int32
  private(set) var isOver = false
  /// Whether to check if any process of the group is left.
  private(set) var isLookDue = false
  private let identifier: UInt64
  private let watch: Int32
  private var machine: StateMachine
  /// The descriptor that signals the end; nil after the signal.
  private var end: Descriptor?
  /// The schedule for polling the end, if no descriptor signals it.
  private var endLooks: Looks?
  private let input: InputFeed
  private let output: OutputReader
  private let errorOutput: OutputReader

  /// The time of the next call of ``timePassed(_:)``.
  var deadline: StateMachine.Moment? {
    guard let look = endLooks?.next else { return machine.deadline }
    return machine.deadline.map { min($0, look) } ?? look
  }

  var isSweeping: Bool { machine.isSweeping }

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
    if error != 0 { endLooks = Looks(from: .now) }
    self.child = child
    self.identifier = identifier
    self.watch = watch
    leader = launched.identifier
    self.end = end >= 0 ? Descriptor(end) : nil
    machine = StateMachine(
      gracePeriod: configuration.gracePeriod, drainTime: configuration.drainTime)
    input = InputFeed(configuration.input, into: launched.input.take())
    output = OutputReader(
      configuration.output, evidence: configuration.isMerged ? OutputReader.evidenceLimit : 0,
      from: launched.output.take())
    errorOutput = OutputReader(
      configuration.errorOutput, evidence: OutputReader.evidenceLimit,
      from: launched.errorOutput.take())
    child.hold.began(launched.identifier)
    if configuration.onLaunch != nil {
      child.mailbox.launched(RunningProcess(child.hold, identifier: launched.identifier))
    }
  }

  /// Begins to watch the standard streams of the process.
  func began() {
    for stream in OutputStream.allCases { watchOutput(stream) }
    feed()
    if !hasOpenOutput { perform(machine.outputEnded()) }
  }

  func ready(_ part: WatchedPart, _ buffer: inout [UInt8]) {
    switch part {
    case .end: lookForEnd(&buffer, at: .now)
    case .output: read(.output, &buffer, atMost: OutputReader.patience)
    case .errorOutput: read(.errorOutput, &buffer, atMost: OutputReader.patience)
    case .input: feed()
    }
  }

  func cancelled() { perform(machine.cancelled(at: .now)) }

  func timePassed(_ buffer: inout [UInt8]) {
    let now = SuspendingClock.now
    if let look = endLooks?.next, look <= now { lookForEnd(&buffer, at: now) }
    perform(machine.timePassed(at: now))
  }

  /// - Parameter lives: Whether any process of the group is left.
  func looked(lives: Bool, _ buffer: inout [UInt8]) {
    isLookDue = false
    if !lives { readOn(&buffer) }
    perform(machine.looked(lives: lives, at: .now))
  }

  func resumeReading(_ stream: OutputStream) {
    watchOutput(stream)
  }

  private func lookForEnd(_ buffer: inout [UInt8], at now: Looks.Moment) {
    removeEnd()
    if process_has_ended(leader) {
      endLooks = nil
      programEnded(&buffer)
    } else {
      // A tracer is notified of the end first, and there is no signal when it has finished.
      var looks = endLooks ?? Looks(from: now)
      looks.lookedInVain(at: now)
      endLooks = looks
    }
  }

  private func programEnded(_ buffer: inout [UInt8]) {
    readOn(&buffer)
    input.close(on: watch)
    perform(machine.programEnded(at: .now))
  }

  /// Reads the available bytes, even if reading is paused.
  private func readOn(_ buffer: inout [UInt8]) {
    for stream in OutputStream.allCases {
      read(stream, &buffer, atMost: OutputReader.mostInPipe)
    }
  }

  private func perform(_ action: StateMachine.Action) {
    switch action {
    case .none: break
    case .terminate:
      _ = child.hold.send(.terminate, to: .group)
      // Suspended processes handle SIGTERM only when they are resumed.
      _ = child.hold.send(.goOn, to: .group)
    case .kill:
      if !child.hold.endByForce() { perform(machine.killRefused()) }
    case .lookAtGroup: isLookDue = true
    case .finish: finish()
    case .killAndFinish:
      _ = child.hold.send(.kill, to: .group)
      finish()
    case .leave:
      closeStreams()
      let error = ProcessLeftRunningError(child.configuration, identifier: leader)
      child.mailbox.ended(.failure(error))
    case .forget:
      isOver = true
      _ = child.hold.reap()
    }
  }

  private func closeStreams() {
    output.close(on: watch)
    errorOutput.close(on: watch)
    input.close(on: watch)
  }

  private func finish() {
    isOver = true
    closeStreams()
    switch child.hold.reap() {
    case .success(let status):
      let result = ProcessResult(
        status: status, output: output.kept, errorOutput: errorOutput.kept)
      let evidence = child.configuration.isMerged ? output.evidence : errorOutput.evidence
      child.mailbox.ended(.success(ChildEnd(result: result, lastErrorOutput: evidence)))
    case .failure: child.mailbox.ended(.failure(ProcessStatusLostError(child.configuration)))
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
