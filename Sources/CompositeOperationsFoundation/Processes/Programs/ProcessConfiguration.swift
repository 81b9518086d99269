/// The program that a ``ProcessOperation`` runs: its arguments, its environment, its standard
/// streams, and how its end is handled.
struct ProcessConfiguration: Sendable {
  let program: String
  let arguments: [String]
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

  init(program: String, arguments: [String], folder: String?) {
    self.program = program
    self.arguments = arguments
    self.folder = folder
  }
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

/// The standard input of a program.
public enum ProcessInput: Sendable {
  /// No input. It ends at once.
  case nothing
  /// Bytes.
  case bytes([UInt8])
  /// A text, encoded as UTF-8.
  case text(String)
  /// The contents of a file, or of a named pipe that already has a writer. A relative path starts
  /// at the working folder of this process.
  case file(String)
}

extension ProcessInput {
  /// The bytes to write into a pipe; empty if there is none.
  var bytes: [UInt8] {
    switch self {
    case .nothing, .file: []
    case .bytes(let bytes): bytes
    case .text(let text): Array(text.utf8)
    }
  }
}

/// The destination of one of a program's outputs, and the handler of its lines.
struct OutputConfiguration: Sendable {
  typealias LineHandler = nonisolated(nonsending) @Sendable (String) async throws -> Void

  static let standardOutput = OutputConfiguration(copy: .kept(first: 16 << 20))
  static let standardError = OutputConfiguration(copy: .kept(last: 64 << 10))

  /// The destination that the caller has chosen; nil for the default.
  private var chosen: ProcessOutput.Destination?
  /// The part that the result has by default if a closure receives the whole output.
  private let copy: ProcessOutput.Destination
  private(set) var lineHandler: LineHandler?

  private init(copy: ProcessOutput.Destination) { self.copy = copy }

  /// By default, either the result or the closure has the whole output.
  var destination: ProcessOutput.Destination {
    chosen ?? (lineHandler == nil ? .whole(limit: 16 << 20) : copy)
  }

  mutating func send(to destination: ProcessOutput.Destination) {
    chosen = destination
    if !isKept { lineHandler = nil }
  }

  mutating func handleLines(with handler: @escaping LineHandler) {
    if !isKept { chosen = .kept(first: 0) }
    lineHandler = handler
  }

  /// Whether this process reads the output.
  var isKept: Bool {
    switch destination.kind {
    case .whole, .kept: true
    case .discarded, .inherited, .file: false
    }
  }
}
