import CommandLineOperations

/// `coop completion bash|zsh|fish`
struct CompletionCommand {
  static let usage = """
    usage: coop completion bash|zsh|fish

    Prints a script that completes the commands, actions, options, values and files of coop in a shell.
    `make install` installs the scripts of all three shells. To use one without an installation:

      bash    source <(coop completion bash)                               in ~/.bashrc; needs bash 4 or newer
      zsh     source <(coop completion zsh)                                in ~/.zshrc, after compinit
      fish    coop completion fish > ~/.config/fish/completions/coop.fish

    Names of steps, runs and tables are not completed.

    Exit status: 0 success, 1 error, 64 invalid arguments.
    """

  enum Shell: String, CaseIterable {
    case bash, zsh, fish
  }

  private let shell: Shell

  init(_ arguments: ArraySlice<RawPath>) throws(UsageError) {
    let expected = "expected bash, zsh or fish"
    guard let argument = arguments.first else {
      throw UsageError("completion: no shell; \(expected)")
    }
    guard let shell = argument.text.flatMap(Shell.init) else {
      throw UsageError("completion: unknown shell \(argument); \(expected)")
    }
    if let other = arguments.dropFirst().first {
      throw UsageError("completion: unexpected argument \(other); expected one shell")
    }
    self.shell = shell
  }

  /// - Returns: The exit status.
  func run() throws -> Int32 {
    let contexts = CompletionTable.root.contexts()
    let script =
      switch shell {
      case .bash: BashCompletion(contexts).script
      case .zsh: ZshCompletion(contexts).script
      case .fish: FishCompletion(contexts).script
      }
    try StandardOutput().write(Array(script.utf8))
    return ExitStatus.success
  }
}
