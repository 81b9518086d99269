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
/// No shell is involved: each argument reaches the program unchanged, whatever characters it
/// contains. A program name without a slash is searched for in the folders of `PATH`.
///
/// The result is a ``ProcessResult``: the status and the whole output. A status other than 0 is a
/// ``ProcessExitError``, output above a limit of 16 MiB is a ``ProcessOutputError``, and a program
/// that cannot be started is a ``ProcessLaunchError``. Each modifier returns a copy with another
/// setting:
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
/// The program leads a process group of its own. Processes that the program starts belong to the
/// group unless they leave it. Cancelling the run sends SIGTERM to the group, and SIGKILL if the
/// group has not ended within the grace period of ``ending(within:)``. The run ends as cancelled,
/// and its late outcome (`lateOutcome` of the handle) is the result or error of the program, with
/// its output.
///
/// The program starts with the default actions of all signals, even if this process ignores some of
/// them. It inherits no descriptors other than the three standard streams.
///
/// A run ends when the program and its output have ended. If other processes that the program
/// started keep the output open, the run waits for 5 seconds, and then fails with a
/// ``ProcessOutputError``. With ``draining(for:)``, it waits for another time and marks the result.
///
/// Starting and running a program does not block a thread of Swift's pool.
public struct ProcessOperation: ComposableOperation {
  var configuration: ProcessConfiguration

  /// The program: a name to search for in `PATH`, or a path if it contains a slash.
  public var program: String { configuration.program }
  /// The arguments, without the name of the program.
  ///
  /// Bytes that are not UTF-8 are U+FFFD. ``rawArguments`` has all bytes.
  public var arguments: [String] { configuration.argumentTexts }
  /// The bytes of the arguments.
  public var rawArguments: [[UInt8]] { configuration.arguments }
  /// The working folder of the program; nil for the working folder of this process.
  public var folder: String? { configuration.folder }

  /// Creates an operation that runs a program.
  ///
  /// - Parameters:
  ///   - program: A name to search for in `PATH`, or a path if it contains a slash. A relative path
  ///     starts at `folder`.
  ///   - arguments: The arguments, without the name of the program.
  ///   - folder: The working folder of the program; nil for the working folder of this process.
  public init(_ program: String, _ arguments: String..., in folder: String? = nil) {
    self.init(program, arguments: arguments, in: folder)
  }

  /// Creates an operation that runs a program with an array of arguments.
  ///
  /// - Parameters:
  ///   - program: A name to search for in `PATH`, or a path if it contains a slash. A relative path
  ///     starts at `folder`.
  ///   - arguments: The arguments, without the name of the program.
  ///   - folder: The working folder of the program; nil for the working folder of this process.
  public init(_ program: String, arguments: [String], in folder: String? = nil) {
    self.init(program, rawArguments: arguments.map { Array($0.utf8) }, in: folder)
  }

  /// Creates an operation that runs a program with arguments that need not be UTF-8, such as names
  /// of files on Linux.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let name: [UInt8] = [0x66, 0xFF]
  /// let removal = ProcessOperation("rm", rawArguments: [Array("--".utf8), name])
  /// ```
  ///
  /// - Parameters:
  ///   - program: A name to search for in `PATH`, or a path if it contains a slash. A relative path
  ///     starts at `folder`.
  ///   - rawArguments: The bytes of the arguments, without the name of the program. Messages show bytes
  ///     that are not UTF-8 as a shell reads them, such as `$'f\xff'`.
  ///   - folder: The working folder of the program; nil for the working folder of this process.
  public init(_ program: String, rawArguments: [[UInt8]], in folder: String? = nil) {
    configuration = ProcessConfiguration(program: program, arguments: rawArguments, folder: folder)
  }

  /// The name of the program without its folders.
  public var operationName: String {
    program.split(separator: "/").last.map(String.init) ?? program
  }
}
