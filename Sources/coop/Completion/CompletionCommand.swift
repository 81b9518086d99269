import CommandLineOperations
import FlowFiles
import SystemSupport

/// `coop completion bash|zsh|fish`
struct CompletionCommand {
  static let usage = """
    usage: coop completion bash|zsh|fish

    Prints a script that completes the commands, actions, options, values and files of coop in a shell.
    `make install` installs the scripts of all three shells. To use one without an installation:

      bash    source <(coop completion bash)                               in ~/.bashrc; needs bash 4 or newer
      zsh     source <(coop completion zsh)                                in ~/.zshrc, after compinit
      fish    coop completion fish > ~/.config/fish/completions/coop.fish

    The scripts run `coop completion steps FILE` and `coop completion values FILE`, which print the names in a flow
    file. Names of runs and tables are not completed.

    Exit status: 0 success, 1 error, 64 invalid arguments.
    """

  enum Shell: String, CaseIterable {
    case bash, zsh, fish
  }

  /// Names in a flow file.
  enum Names: String {
    case steps, values
  }

  private enum Action {
    case script(Shell)
    case names(Names, file: RawPath)
  }

  private let action: Action

  init(_ arguments: ArraySlice<RawPath>) throws(UsageError) {
    let expected = "expected bash, zsh or fish"
    guard let argument = arguments.first else {
      throw UsageError("completion: no shell; \(expected)")
    }
    if let names = argument.text.flatMap(Names.init) {
      guard arguments.count == 2, let file = arguments.last else {
        throw UsageError("completion: \(names) with other arguments than a file; expected FILE")
      }
      action = .names(names, file: file)
      return
    }
    guard let shell = argument.text.flatMap(Shell.init) else {
      throw UsageError("completion: unknown shell \(argument); \(expected)")
    }
    if let other = arguments.dropFirst().first {
      throw UsageError("completion: unexpected argument \(other); expected one shell")
    }
    action = .script(shell)
  }

  /// - Returns: The exit status.
  func run() throws -> Int32 {
    switch action {
    case .script(let shell):
      try StandardOutput().write(Array(Self.script(of: shell).utf8))
      return ExitStatus.success
    case .names(let names, let file):
      // A message would appear in the line that is completed.
      guard let texts = Self.texts(names, file) else { return ExitStatus.failure }
      try StandardOutput().write(Array(texts.map { $0 + "\n" }.joined().utf8))
      return ExitStatus.success
    }
  }

  /// Returns the names in a flow file; nil if it is not valid.
  private static func texts(_ names: Names, _ path: RawPath) -> [String]? {
    // A pipe could be read forever.
    guard let path = path.text, (try? FileStatus(ofFile: path))?.kind == .file,
      let file = try? FlowFile.read(contentsOf: path)
    else { return nil }
    switch names {
    case .steps: return file.steps.map(\.name)
    case .values: return file.values.map { "\($0.name)=" }
    }
  }

  private static func script(of shell: Shell) -> String {
    let contexts = CompletionTable.root.contexts()
    return switch shell {
    case .bash: BashCompletion(contexts).script
    case .zsh: ZshCompletion(contexts).script
    case .fish: FishCompletion(contexts).script
    }
  }
}
