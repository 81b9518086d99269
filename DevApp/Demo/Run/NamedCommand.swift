import CommandLineOperations

/// A program with its arguments, and the name that precedes its lines.
struct NamedCommand: Sendable {
  let name: String
  let program: String
  let arguments: [String]

  /// Returns the commands between the separators `---`, at least one.
  static func list(from arguments: ArraySlice<RawPath>) throws(UsageError) -> [NamedCommand] {
    if arguments.isEmpty {
      throw UsageError("run: no COMMAND; expected a program and its arguments after --")
    }
    let parts = arguments.split(omittingEmptySubsequences: false) { $0.text == "---" }
    var commands: [(program: String, arguments: [String])] = []
    for part in parts {
      var words: [String] = []
      for argument in part {
        guard let text = argument.text else {
          throw UsageError("run: the argument \(argument) is not UTF-8; expected text")
        }
        words.append(text)
      }
      guard let program = words.first, !program.isEmpty else {
        throw UsageError("run: COMMAND \(commands.count + 1) is empty; expected a program")
      }
      commands.append((program, Array(words.dropFirst())))
    }
    return named(commands)
  }

  /// Names the commands by their programs, with a number if a program occurs more than once.
  private static func named(
    _ commands: [(program: String, arguments: [String])]
  ) -> [NamedCommand] {
    let names = commands.map { command in
      // The name precedes each line, so it must not have a line break.
      RawPath(command.program.split(separator: "/").last.map(String.init) ?? command.program)
        .description
    }
    let counts = Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +)
    var numbers: [String: Int] = [:]
    return zip(commands, names).map { command, name in
      numbers[name, default: 0] += 1
      let isAlone = counts[name] == 1
      return NamedCommand(
        name: isAlone ? name : "\(name)#\(numbers[name] ?? 1)", program: command.program,
        arguments: command.arguments)
    }
  }
}
