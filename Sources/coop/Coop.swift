import CommandLineOperations

/// The tool for flow files, durable runs and records.
@main struct Coop {
  static let usage = """
    usage: coop COMMAND

      cluster-demo       runs a flow on three workers, and kills two of them
      completion SHELL   prints a script that completes the arguments of this program
      flow ACTION        runs the commands of a flow file as a graph, and resumes them after a crash
      journal STORE      lists, shows and controls durable runs, which survive the end of their process
      records ACTION     queries a database, imports and exports rows, and mirrors it with another one
      worker STORE       runs durable runs of a database or file

    `coop COMMAND --help` shows the options of a command.
    """

  static func main() async {
    let program = CommandLineProgram(
      "coop", usage: usage,
      commands: [
        .init("cluster-demo", usage: ClusterCommand.usage) { try await ClusterCommand($0).run() },
        .init("completion", usage: CompletionCommand.usage) { try CompletionCommand($0).run() },
        .init("flow", usage: FlowCommandLine.usage) { try await FlowCommandLine($0).run() },
        .init("journal", usage: JournalCommand.usage) { try await JournalCommand($0).run() },
        .init(
          "records", usage: RecordsCommand.usage,
          subcommands: [
            .init("mirror", usage: MirrorArguments.usage) { try await MirrorCommand($0).run() }
          ]
        ) { try await RecordsCommand($0).run() },
        .init("worker", usage: WorkerCommand.usage) { try await WorkerCommand($0).run() },
      ])
    await program.run()
  }
}
