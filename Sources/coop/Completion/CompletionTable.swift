/// The commands, actions, options and values that the completions of all shells know.
///
/// Tests compare it with the usage texts and the messages of the commands.
enum CompletionTable {
  static let root = CompletionNode(
    "coop", "runs flow files, and controls durable runs and records",
    actions: [clusterDemo, completion, flow, journal, records, worker],
    options: [help])

  static let help = CompletionOption("--help", "shows the options")
  static let json = CompletionOption("--json", "prints JSON")
  private static let shownRun = CompletionOption("--run", "shows the run with this name", .text)
  private static let state = CompletionOption("--state", "the folder that stores the runs", .file)
  private static let queue = CompletionOption("--queue", "the queue in the database", .text)
  private static let lease = CompletionOption(
    "--lease", "seconds until a run of a killed worker is taken over", .text)

  /// The options of `TraceOptions`.
  static let observation = [
    CompletionOption("--trace", "writes a trace", .file),
    CompletionOption("--timeline", "writes a timeline as a web page or an image", .file),
  ]

  private static let clusterDemo = CompletionNode(
    "cluster-demo", "runs a flow on three workers, and kills two of them", positions: [.text],
    options: [
      queue, CompletionOption("--children", "the number of child flows", .text), lease, help,
    ])

  private static let completion = CompletionNode(
    "completion", "prints a script that completes the arguments of this program",
    positions: [.words(CompletionCommand.Shell.allCases.map(\.rawValue))], options: [help])

  /// The options and actions of `coop flow`, whose command line is in `Sources/coop/Flow`.
  private static let flow = CompletionNode(
    "flow", "runs the commands of a flow file, and resumes after a crash",
    actions: [
      CompletionNode(
        "run", "runs a flow file, or resumes its last run", positions: [.file, .names(.steps)],
        repeatsLastPosition: true,
        options: [
          CompletionOption("--set", "sets a value of the file: name=text", .names(.values)),
          state,
          CompletionOption("--keep-going", "continues after a failure"),
          CompletionOption("--run", "continues or begins the run with this name", .text),
          CompletionOption("--fresh", "begins a new run"),
          CompletionOption("--force", "runs every step, in a new run"),
          CompletionOption("--from", "runs a step and all steps that need it", .names(.steps)),
          CompletionOption("--only", "runs one step", .names(.steps)),
          CompletionOption("--dry-run", "prints what would run, and why"),
          CompletionOption("--on", "the database whose workers run the commands", .text), queue,
          CompletionOption(
            "--output", "where the output of the commands is shown",
            .words(["quiet", "live", "grouped"])), json,
        ] + observation + [help]),
      CompletionNode("show", "prints a diagram", positions: [.file], options: [help]),
      CompletionNode(
        "runs", "lists the runs", positions: [.file], options: [state, json, help]),
      CompletionNode(
        "status", "shows the last run", positions: [.file], options: [shownRun, state, help]),
      CompletionNode(
        "log", "shows the output of a step", positions: [.file, .names(.steps)],
        options: [
          CompletionOption("--follow", "shows it until the step has ended"), shownRun, state, help,
        ]),
      CompletionNode("schema", "prints the format of flow files", options: [help]),
    ],
    options: [help])

  private static let worker = CompletionNode(
    "worker", "runs durable runs of a database or file", positions: [.file],
    options: [
      CompletionOption("--commands", "also runs commands of flow files"), queue,
      CompletionOption("--width", "the maximum number of runs", .text),
      CompletionOption("--drain", "seconds that steps may take after a signal", .text), lease, help,
    ])

  // MARK: Journals

  /// The options that select runs.
  private static let selection = [
    CompletionOption(
      "--state", "only runs in this state",
      .words([
        "ready", "running", "interrupted", "parked", "stuck", "result", "error", "cancelled",
      ])),
    CompletionOption("--flow", "only runs of this flow", .text),
    CompletionOption("--text", "only runs whose names contain the text", .text),
    CompletionOption("--reason", "only runs whose error or reason contains the text", .text),
    CompletionOption("--since", "only runs that began within this time, such as 24h", .text),
  ]
  private static let confirm = CompletionOption(
    "--confirm", "acts on the selected runs, if this is their number", .text)

  private static let journal = CompletionNode(
    "journal", "lists, shows and controls durable runs", positions: [.file],
    actions: [
      CompletionNode(
        "list", "lists the runs",
        options: selection + [
          CompletionOption("--limit", "at most this number of runs", .text), json, queue, help,
        ]),
      CompletionNode(
        "show", "shows a run", positions: [.text],
        options: [json, CompletionOption("--live", "shows the run until it ends")] + observation
          + [queue, help]),
      CompletionNode(
        "cancel", "cancels a run and its child flows", positions: [.text],
        options: [CompletionOption("--because", "the reason", .text), confirm] + selection
          + [queue, help]),
      CompletionNode(
        "retry", "resumes a run from one of its steps", positions: [.text],
        options: [CompletionOption("--from", "the first step to repeat", .text), confirm]
          + selection + [queue, help]),
      CompletionNode(
        "send", "sends an event to a run", positions: [.text, .text, .text],
        options: [queue, help]),
      CompletionNode(
        "forget", "deletes runs that have ended", positions: [.text],
        options: [
          CompletionOption("--older-than", "deletes all that ended before, such as 7d", .text),
          confirm,
        ] + selection + [queue, help]),
      CompletionNode("check", "checks the store and its values", options: [queue, help]),
      CompletionNode(
        "copy", "copies an SQLite file with its log", positions: [.file], options: [queue, help]),
      CompletionNode(
        "serve", "shows the runs on a page for the browser",
        options: [
          CompletionOption("--address", "where the page is, such as 127.0.0.1:8080", .text),
          CompletionOption("--host", "a name of this machine in the address of the page", .text),
          CompletionOption("--public-url", "the address of a proxy in front of the page", .text),
          CompletionOption("--read-only", "shows runs only"),
          CompletionOption("--token-file", "the file with the token", .file),
          CompletionOption("--user-header", "the field in which the proxy names the user", .text),
          queue, help,
        ]),
      CompletionNode("init", "shows how to prepare a database", options: [queue, help]),
    ],
    options: [help])
}
