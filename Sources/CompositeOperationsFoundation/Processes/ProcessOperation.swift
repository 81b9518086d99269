public import CompositeOperations

/// An operation that runs a program and ends when the program has ended.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let log = try await ProcessOperation("git", "log", "--oneline", in: "/repository").run().get()
/// for line in log.output.lines { print(line) }
/// ```
///
/// There is no shell in between: each argument reaches the program as it is, whatever characters it has. A
/// program's name without a slash is looked for in the folders of `PATH`.
///
/// The result is a ``ProcessResult``: the status, and what the program wrote. A status other than 0 is a
/// ``ProcessExitError``, and a program that cannot be started a ``ProcessLaunchError``. What is to be otherwise is
/// said by modifiers, each of which gives a changed copy:
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let search = ProcessOperation("grep", "-r", "TODO", ".", in: "/repository")
///   .settingVariables(["LC_ALL": "C"])
///   .accepting(exitCodes: 0, 1)
///   .onOutputLine { print($0) }
/// ```
///
/// The program is the leader of a process group of its own, which its children belong to as long as they do not
/// leave it. A run that is cancelled ends the group: by SIGTERM, and by SIGKILL if that is not enough in the time of
/// ``ending(within:)``. What the program came to in spite of that, and what it wrote, is what the run came to late. No
/// signal is ignored in the program, even if this process ignores it, and it inherits no descriptors other than the
/// three standard streams.
///
/// A run is over when the program has ended and its output too. Where something that the program left behind holds
/// the output open, that is waited for during the time of ``draining(for:)`` and no longer.
///
/// No thread of Swift's pool waits while a program is started or runs.
public struct ProcessOperation: ComposableOperation {
  /// What is run: a name to be looked for in `PATH`, or a path if there is a slash in it.
  public let program: String
  /// What the program is told, its own name not among it.
  public let arguments: [String]
  /// Where the program runs; nil for where this process does.
  public let folder: String?

  var environment = ProcessEnvironment.inherited
  var input = ProcessInput.nothing
  var output = OutputChoice.standardOutput
  var errorOutput = OutputChoice.standardError
  var isMerged = false
  var isClean: @Sendable (ProcessStatus) -> Bool = { $0 == .exited(0) }
  var grace = Duration.seconds(2)
  var drainTime = Duration.milliseconds(100)
  var launchHook: (@Sendable (RunningProcess) -> Void)?

  /// An operation that runs a program.
  ///
  /// - Parameters:
  ///   - program: A name to be looked for in `PATH`, or a path if there is a slash in it. A path that does not
  ///     begin with one starts at the folder.
  ///   - arguments: What the program is told.
  ///   - folder: Where the program runs; nil for where this process does.
  public init(_ program: String, _ arguments: String..., in folder: String? = nil) {
    self.init(program, arguments: arguments, in: folder)
  }

  /// An operation that runs a program with a list of arguments.
  ///
  /// - Parameters:
  ///   - program: A name to be looked for in `PATH`, or a path if there is a slash in it. A path that does not
  ///     begin with one starts at the folder.
  ///   - arguments: What the program is told.
  ///   - folder: Where the program runs; nil for where this process does.
  public init(_ program: String, arguments: [String], in folder: String? = nil) {
    self.program = program
    self.arguments = arguments
    self.folder = folder
  }

  /// The name of the program without its folders.
  public var operationName: String {
    program.split(separator: "/").last.map(String.init) ?? program
  }
}
