import SystemSupport

/// A command-line program with commands, such as `git`: it selects the command that the arguments
/// name, prints help and errors, and exits.
///
/// ```swift
/// @main struct Tool {
///   static func main() async {
///     let program = CommandLineProgram(
///       "tool", usage: "usage: tool count FILE…",
///       commands: [
///         .init("count", usage: CountCommand.usage) { try await CountCommand($0).run() }
///       ])
///     await program.run()
///   }
/// }
/// ```
///
/// `--help` or `-h` before a `--` prints the usage of a command instead of running it. An error of a
/// command is printed on standard error after the name of the program. The exit status is then
/// ``ExitCode/usage`` for a ``UsageError`` and ``ExitCode/failure`` for any other error.
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
    ///   - usage: The text that `--help` prints.
    ///   - subcommands: Commands that the argument after the name can select instead of this one.
    ///   - body: A closure that runs the command with the arguments after the name, and returns the
    ///     exit status.
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
  ///   - usage: The text that `--help` prints, with the list of the commands.
  ///   - commands: The commands, at least one.
  /// - Precondition: There is a command.
  public init(_ name: String, usage: String, commands: [Command]) {
    precondition(!commands.isEmpty, "`commands` must not be empty")
    self.name = name
    self.usage = usage
    self.commands = commands
  }

  /// Runs the command that the arguments of the process name, and exits.
  public func run() async -> Never {
    FileDescriptor.occupyStandardStreams()
    let status = await status(of: CommandLine.rawArguments.dropFirst())
    SystemProcess.exit(status)
  }

  private func status(of arguments: ArraySlice<RawPath>) async -> Int32 {
    do {
      var rest = arguments
      guard var command = Self.take(from: &rest, commands) else {
        if ["--help", "-h", "help"].contains(arguments.first?.utf8) { return help(usage) }
        let problem = arguments.first.map { "unknown command \($0)" } ?? "no command"
        throw UsageError("\(problem); expected \(expected)")
      }
      while let subcommand = Self.take(from: &rest, command.subcommands) { command = subcommand }
      let wantsHelp = rest.prefix { $0.utf8 != "--" }.contains {
        ["--help", "-h"].contains($0.utf8)
      }
      return wantsHelp ? help(command.usage) : try await command.body(rest)
    } catch {
      StandardError().writeLine("\(name): \(error)")
      return error is UsageError ? ExitCode.usage : ExitCode.failure
    }
  }

  private static func take(
    from arguments: inout ArraySlice<RawPath>, _ commands: [Command]
  ) -> Command? {
    guard let command = commands.first(where: { $0.name == arguments.first?.utf8 }) else {
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

  private func help(_ text: String) -> Int32 {
    do { try StandardOutput().write(Array((text + "\n").utf8)) } catch { return ExitCode.failure }
    return ExitCode.success
  }
}
