import SystemSupport

/// The demo of CompositeOperations: programs for everyday use, built from operations.
@main struct DevApp {
  static let usage = """
    usage: DevApp COMMAND

      cluster-demo       runs a flow on three workers, and kills two of them
      completion SHELL   prints a script that completes the arguments of this program
      duplicates PATH…   finds files with the same contents
      flow ACTION        runs the commands of a flow file as a graph, and resumes them after a crash
      issues USER        lists the open issues of a user's repositories on GitHub
      journal STORE      lists, shows and controls durable runs, which survive the end of their process
      records ACTION     queries a database, imports and exports rows, and mirrors it with another one
      run -- COMMAND…    runs commands in parallel
      tour               shows what operations can do, with the code
      worker STORE       runs durable runs of a database or file

    `DevApp COMMAND --help` shows the options of a command.
    """

  static func main() async {
    FileDescriptor.occupyStandardStreams()
    let status = await run(CommandLine.rawArguments.dropFirst())
    SystemProcess.exit(status)
  }

  private static func run(_ arguments: ArraySlice<RawPath>) async -> Int32 {
    do {
      let rest = arguments.dropFirst()
      let wantsHelp = rest.prefix { $0.utf8 != "--" }.contains {
        ["--help", "-h"].contains($0.utf8)
      }
      switch arguments.first?.utf8 {
      case "duplicates":
        return wantsHelp
          ? help(DuplicatesCommand.usage) : try await DuplicatesCommand(rest).run()
      case "run":
        return wantsHelp ? help(RunCommand.usage) : try await RunCommand(rest).run()
      case "records" where rest.first?.utf8 == "mirror":
        return wantsHelp
          ? help(MirrorArguments.usage) : try await MirrorCommand(rest.dropFirst()).run()
      case "records":
        return wantsHelp ? help(RecordsCommand.usage) : try await RecordsCommand(rest).run()
      case "journal":
        return wantsHelp ? help(JournalCommand.usage) : try await JournalCommand(rest).run()
      case "flow":
        return wantsHelp ? help(FlowCommandLine.usage) : try await FlowCommandLine(rest).run()
      case "issues":
        return wantsHelp ? help(IssuesCommand.usage) : try await IssuesCommand(rest).run()
      case "tour":
        return wantsHelp ? help(TourCommand.usage) : try await TourCommand(rest).run()
      case "worker":
        return wantsHelp ? help(WorkerCommand.usage) : try await WorkerCommand(rest).run()
      case "cluster-demo":
        return wantsHelp ? help(ClusterCommand.usage) : try await ClusterCommand(rest).run()
      case "completion":
        return wantsHelp ? help(CompletionCommand.usage) : try CompletionCommand(rest).run()
      case "--help", "-h", "help":
        return help(usage)
      default:
        let problem = arguments.first.map { "unknown command \($0)" } ?? "no command"
        throw UsageError(
          """
          \(problem); expected cluster-demo, completion, duplicates, flow, issues, journal, records, \
          run, tour or worker
          """
        )
      }
    } catch {
      StandardError().writeLine("DevApp: \(error)")
      return error is UsageError ? ExitCode.usage : ExitCode.failure
    }
  }

  private static func help(_ text: String) -> Int32 {
    do { try StandardOutput().write(Array((text + "\n").utf8)) } catch { return ExitCode.failure }
    return ExitCode.success
  }
}
