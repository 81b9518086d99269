import CommandLineOperations

/// The demo of CompositeOperations: programs for everyday use, built from operations.
@main struct DevApp {
  static let usage = """
    usage: DevApp COMMAND

      duplicates PATH…   finds files with the same contents
      issues USER        lists the open issues of a user's repositories on GitHub
      run -- COMMAND…    runs commands in parallel
      tour               shows what operations can do, with the code

    `DevApp COMMAND --help` shows the options of a command.
    """

  static func main() async {
    let program = CommandLineProgram(
      "DevApp", usage: usage,
      commands: [
        .init("duplicates", usage: DuplicatesCommand.usage) {
          try await DuplicatesCommand($0).run()
        },
        .init("issues", usage: IssuesCommand.usage) { try await IssuesCommand($0).run() },
        .init("run", usage: RunCommand.usage) { try await RunCommand($0).run() },
        .init("tour", usage: TourCommand.usage) { try await TourCommand($0).run() },
      ])
    await program.run()
  }
}
