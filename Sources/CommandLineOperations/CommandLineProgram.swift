import SystemSupport

/// A command-line program with commands, such as `git`: it selects the command that the arguments
/// name, prints help and errors, and exits.
///
/// ```swift
/// import CommandLineOperations
/// struct Tool {
///   static func main() async {
///     let program = CommandLineProgram(
///       "tool", usage: "usage: tool greet NAME…",
///       commands: [
///         .init("greet", usage: "usage: tool greet NAME…") { names in
///           if names.isEmpty { throw UsageError("greet: no NAME; expected a name") }
///           for name in names { try StandardOutput().write("Hello \(name)\n") }
///           return ExitStatus.success
///         }
///       ])
///     await program.run()
///   }
/// }
/// ```
///
/// `--help` or `-h` anywhere before a `--` prints the usage of the command instead of running it;
/// without a command, they and `help` print the usage of the program. An error of a command is
/// printed on standard error after the name of the program. The exit status is then
/// ``ExitStatus/usage`` for a ``UsageError`` and ``ExitStatus/failure`` for any other error.
public struct CommandLineProgram: Sendable {
  /// A command of a program.
  public struct Command: Sendable {
    let name: String
    let usage: String
    let subcommands: [Command]
    let body: @Sendable (ArraySlice<RawPath>) async throws -> Int32

    /// Creates a command.
    ///
    /// - Parameters:
    ///   - name: The first argument, which selects the command.
    ///   - usage: The text that `--help` prints, without a line break at its end.
    ///   - subcommands: Commands that the argument after the name can select instead of this one.
    ///   - body: A closure that runs the command with the arguments after the name, and returns the
    ///     exit status, from 0 to 255. It throws ``UsageError`` if the arguments are invalid.
    public init(
      _ name: String, usage: String, subcommands: [Command] = [],
      body: @escaping @Sendable (ArraySlice<RawPath>) async throws -> Int32
    ) {
      self.name = name
      self.usage = usage
      self.subcommands = subcommands
      self.body = body
    }
  }

  private let name: String
  private let usage: String
  private let commands: [Command]

  /// Creates a program.
  ///
  /// - Parameters:
  ///   - name: The name of the program, which precedes its errors.
  ///   - usage: The text that `--help` prints, with the list of the commands and without a line break
  ///     at its end.
  ///   - commands: The commands, whose names differ.
  /// - Precondition: `commands` is not empty.
  public init(_ name: String, usage: String, commands: [Command]) {
    precondition(!commands.isEmpty, "`commands` must not be empty")
    self.name = name
    self.usage = usage
    self.commands = commands
  }

  /// Runs the command that the arguments of the process name, and exits.
  ///
  /// Standard streams that are closed are opened first, so that no file of the program takes their
  /// numbers. Reading from them and writing to them remains an error.
  public func run() async -> Never {
    FileDescriptor.occupyStandardStreams()
    SystemProcess.exit(await status(of: CommandLine.rawArguments.dropFirst()))
  }

  /// Runs the command that the arguments name, and returns the exit status.
  ///
  /// - Parameters:
  ///   - arguments: The arguments after the name of the program.
  ///   - output: The destination of help.
  ///   - errorOutput: The destination of the error.
  package func status(
    of arguments: ArraySlice<RawPath>, output: StandardOutput = StandardOutput(),
    errorOutput: StandardError = StandardError()
  ) async -> Int32 {
    do {
      var rest = arguments
      guard var command = Self.take(from: &rest, commands) else {
        if ["--help", "-h", "help"].contains(arguments.first?.text) {
          try output.write(usage + "\n")
          return ExitStatus.success
        }
        let problem = arguments.first.map { "unknown command \($0)" } ?? "no command"
        throw UsageError("\(problem); expected \(expected)")
      }
      while let subcommand = Self.take(from: &rest, command.subcommands) { command = subcommand }
      let wantsHelp = rest.prefix { $0.text != "--" }.contains {
        ["--help", "-h"].contains($0.text)
      }
      if wantsHelp {
        try output.write(command.usage + "\n")
        return ExitStatus.success
      }
      return try await command.body(rest)
    } catch {
      errorOutput.writeFailure("\(name): \(error)")
      return error is UsageError ? ExitStatus.usage : ExitStatus.failure
    }
  }

  private static func take(
    from arguments: inout ArraySlice<RawPath>, _ commands: [Command]
  ) -> Command? {
    guard let command = commands.first(where: { $0.name == arguments.first?.text }) else {
      return nil
    }
    arguments.removeFirst()
    return command
  }

  /// The names of the commands: `a, b or c`.
  private var expected: String {
    let names = commands.map(\.name)
    let last = names.suffix(2).joined(separator: " or ")
    return (names.dropLast(2) + [last]).joined(separator: ", ")
  }
}
