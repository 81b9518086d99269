internal import SystemSupport

/// The program that a ``ProcessOperation`` runs: its arguments, its environment, its standard
/// streams, and how its end is handled.
struct ProcessConfiguration: Sendable {
  let program: String
  let arguments: [[UInt8]]
  /// The working folder of the program; nil for the one of this process.
  let folder: String?

  var environment = ProcessEnvironment.inherited
  var input = ProcessInput.nothing
  var output = OutputConfiguration.standardOutput
  var errorOutput = OutputConfiguration.standardError
  /// Whether standard error goes to the destination of standard output.
  var isMerged = false
  var isSuccess: @Sendable (ProcessStatus) -> Bool = { $0 == .exited(0) }
  /// The time between SIGTERM and SIGKILL after a cancellation.
  var gracePeriod = Duration.seconds(2)
  /// How long output is read after the program has ended.
  var drainTime = Duration.seconds(5)
  /// Whether output that is still open after that time is a mark in the result, and no error.
  var acceptsOpenOutput = false
  var onLaunch: (@Sendable (RunningProcess) -> Void)?
  var place = ProcessPlace.newGroup

  init(program: String, arguments: [[UInt8]], folder: String?) {
    self.program = program
    self.arguments = arguments
    self.folder = folder
  }

  /// The arguments as texts, with U+FFFD for bytes that are not UTF-8.
  var argumentTexts: [String] { arguments.map { String(decoding: $0, as: UTF8.self) } }

  /// Where the program runs. The system would stop it in another group when it reads the terminal.
  var effectivePlace: ProcessPlace {
    if case .inherited = input.kind, place == .newGroup,
      FileDescriptor(rawValue: 0).isTerminal
    {
      return .ownGroup
    }
    return place
  }

  /// The command for messages.
  var command: String { CommandText(program, arguments).description }
}

/// Where a program runs.
package enum ProcessPlace: Sendable {
  /// The program leads a new process group.
  case newGroup
  /// The program leads a new session, which has no terminal, and with it a new group.
  case newSession
  /// The program belongs to the process group of this process. A signal to the group of the program
  /// then reaches only the program.
  case ownGroup
}

/// The closure that receives an output while it arrives.
enum OutputHandler: Sendable {
  typealias Lines = nonisolated(nonsending) @Sendable (String) async throws -> Void
  typealias Chunks = nonisolated(nonsending) @Sendable ([UInt8]) async throws -> Void

  case lines(Lines)
  case chunks(Chunks)
}

/// The destination of one of a program's outputs, and the closure that receives it.
struct OutputConfiguration: Sendable {
  static let standardOutput = OutputConfiguration(copy: .kept(first: 16 << 20))
  static let standardError = OutputConfiguration(copy: .kept(last: 64 << 10))

  /// The destination that the caller has chosen; nil for the default.
  private var chosen: ProcessOutput.Destination?
  /// The part that the result has by default if a closure receives the whole output.
  private let copy: ProcessOutput.Destination
  private(set) var handler: OutputHandler?

  private init(copy: ProcessOutput.Destination) { self.copy = copy }

  /// By default, either the result or the closure has the whole output.
  var destination: ProcessOutput.Destination {
    chosen ?? (handler == nil ? .whole(limit: 16 << 20) : copy)
  }

  mutating func send(to destination: ProcessOutput.Destination) {
    chosen = destination
    if !isKept { handler = nil }
  }

  mutating func handle(with handler: OutputHandler) {
    if !isKept { chosen = .kept(first: 0) }
    self.handler = handler
  }

  /// Whether this process reads the output.
  var isKept: Bool {
    switch destination.kind {
    case .whole, .kept: true
    case .discarded, .inherited, .file, .pipe: false
    }
  }
}
