import CommandLineOperations
import FlowFiles

/// `coop flow run|show|runs|status|log|schema FILE …`
struct FlowCommandLine {
  static let usage = """
    usage: coop flow run FILE [STEP]… [--set NAME=TEXT]… [--state FOLDER] [--keep-going] [--run NAME] [--fresh] [--force]
                              [--from STEP]… [--only STEP]… [--dry-run] [--on ADDRESS] [--queue QUEUE] [--output MODE]
                              [--json] [--trace FILE] [--timeline FILE]
           coop flow show FILE
           coop flow runs FILE [--state FOLDER] [--json]
           coop flow status FILE [--run NAME] [--state FOLDER]
           coop flow log FILE STEP [--run NAME] [--follow] [--state FOLDER]
           coop flow schema

    Runs the commands of a flow file, in YAML or JSON, as a graph. A journal stores the success of each step before the
    steps that need it begin. After a crash, a signal or a failure, the same command resumes the run.

      run               runs the steps that are not current: the named ones with everything that they need, or all but
                        the manual ones. A step is current if it has succeeded in this run, or has outputs; and if its
                        definition, its inputs, its outputs and what it needs are as they were
      show              prints the graph as a Mermaid diagram
      runs              lists the runs with their names, values, states, begins and durations
      status            prints the steps of the last run
      log               prints the output of a step, of a child such as 'step[value]', or of a command of 'on' such as
                        'on failure'
      schema            prints a JSON schema of the format, for editors

      --set NAME=TEXT   sets a value of the flow
      --state FOLDER    stores the runs and the logs in this folder (default: .flow/FLOW beside FILE)
      --keep-going      runs every step that can run; without it, the first failure cancels the running steps, and only
                        steps with 'after' still begin
      --run NAME        continues the run with this name, or begins it: --run "$(date +%F)" for one run a day; for
                        status and log, the run that they show
      --fresh           begins a new run instead of resuming the last one
      --force           begins a new run, and runs every step
      --from STEP       runs the step and all steps that need it
      --only STEP       runs that step alone
      --dry-run         prints which steps would run and why, and runs nothing
      --on ADDRESS      runs the commands on the workers of a PostgreSQL database, such as postgresql://flows@db/app,
                        which `coop worker ADDRESS --commands` starts, and which need the same folders. A command
                        continues if this process is killed, and the same command line then uses its result
      --queue QUEUE     the queue of the workers in the database (default: default)
      --output MODE     the output of the commands: quiet (only in the logs), live (each line after the name of its
                        step) or grouped (all lines of a step when it ends); default: the 'output' of FILE, or quiet
      --follow, -f      prints the log as it grows, until the step has ended
      --json            prints a line with a JSON object for each event of a run, or for each run
    \(TraceOptions.usage)

    The commands run in the folder of FILE. Their output is in .flow/FLOW/runs/RUN/STEP.log beside FILE.
    Ctrl-C, SIGTERM and SIGHUP terminate the commands gracefully; a second signal kills them.

    Exit status: 0 all steps succeeded or were skipped, 1 a step failed or an error, 64 invalid arguments, 75 the run
    is in progress, or a run in progress uses the same outputs, 130 interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP,
    131 by SIGQUIT.
    """

  /// The exit status if the run is in progress, or a run in progress uses the same outputs: `EX_TEMPFAIL` in `sysexits.h`.
  private static let lockedStatus: Int32 = 75

  private let arguments: FlowArguments

  init(_ arguments: ArraySlice<RawPath>) throws(UsageError) {
    self.arguments = try FlowArguments(arguments)
  }

  /// - Returns: The exit status.
  func run() async -> Int32 {
    // The file, the journal and the plan are read on different threads, one after another.
    ProcessHeap.share()
    do {
      switch arguments.action {
      case .run: return try await FlowRunCommand(arguments).run()
      case .show: try FlowQueries(arguments).show()
      case .runs: try await FlowQueries(arguments).runs()
      case .status: try await FlowQueries(arguments).status()
      case .log: try await FlowQueries(arguments).log()
      case .schema: try StandardOutput().write(Array("\(FlowSchema.json)\n".utf8))
      }
      return ExitStatus.success
    } catch let error as FlowFileError {
      // Editors and terminals find the place by the path at the beginning of a line.
      StandardError().writeFailure("\(error)")
      return ExitStatus.failure
    } catch {
      StandardError().writeFailure("coop flow: \(error)")
      return error is FlowLockedError ? Self.lockedStatus : ExitStatus.failure
    }
  }
}
