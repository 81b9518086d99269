import CommandLineOperations

/// The arguments of `coop worker`.
struct WorkerArguments {
  let place: String
  private(set) var queue: String?
  private(set) var width = 16
  private(set) var lease: Duration?
  /// How long steps in progress may take after a signal.
  private(set) var drain = Duration.seconds(5)
  /// Whether it runs the commands of flow files.
  private(set) var runsCommands = false

  init(_ arguments: ArraySlice<RawPath>) throws(UsageError) {
    var rest = arguments
    guard let first = rest.popFirst() else {
      throw UsageError("worker: no ADDRESS; expected \(StoreOptions.expected)")
    }
    place = try StoreOptions.place(first, "ADDRESS", for: "worker")
    while let argument = rest.popFirst() {
      switch argument.text {
      case "--commands": runsCommands = true
      case "--queue": queue = try StoreOptions.queue(from: &rest, at: place, for: "worker")
      case "--width":
        width = try StoreOptions.number("--width", 1...10_000, from: &rest, for: "worker")
      case "--lease":
        let seconds = try StoreOptions.number("--lease", 1...3_600, from: &rest, for: "worker")
        lease = .seconds(seconds)
      case "--drain":
        drain = .seconds(
          try StoreOptions.number("--drain", 0...86_400, from: &rest, for: "worker"))
      default:
        throw UsageError(
          """
          worker: unexpected argument \(argument); expected --commands, --drain, --queue, --width or --lease
          """)
      }
    }
  }
}
