import CommandLineOperations
import CompositeOperations
import RecordOperations
import SystemSupport

/// `coop records mirror LOCAL REMOTE [TYPE…]`
struct MirrorCommand {
  private let arguments: MirrorArguments
  private let local: SQLiteRecordDatabase
  private let remote: RecordsPlace

  init(_ arguments: ArraySlice<RawPath>) throws {
    let arguments = try MirrorArguments(arguments)
    self.arguments = arguments
    let options = SQLiteOptions(trustsSchema: arguments.trustsSchema)
    local = SQLiteRecordDatabase(arguments.local, options)
    if let address = DatabaseAddress(arguments.remote) {
      remote = try RecordsPlace(
        at: address, in: arguments.schema, hinting: !arguments.runsOnce, timeout: arguments.timeout)
    } else {
      remote = .file(SQLiteRecordDatabase(arguments.remote, options))
    }
  }

  /// - Returns: The exit status.
  func run() async throws -> Int32 {
    do {
      let mirror = try await makeMirror()
      return arguments.runsOnce ? try await once(mirror) : try await follow(mirror)
    } catch let error as RecordError {
      StandardError().writeLine("coop records: \(error)")
      return ExitStatus.failure
    }
  }

  /// Finds the tables, and tracks their changes in the remote database.
  private func makeMirror() async throws -> RecordMirror {
    if case .file = remote { try checkFiles() }
    if try await remote.isMissing() {
      StandardError().writeLine("\(remoteName) has no schema \(schema) yet; it will be created")
    }
    let (there, problems) = try await remote.mirroredTables()
    var types = arguments.types
    if types.isEmpty {
      for (name, problem) in problems.sorted(by: { $0.key < $1.key }) {
        StandardError().writeLine("\(name) is left out: \(problem)")
      }
      types = Set(there + (try await local.tableNames())).subtracting(problems.keys).sorted()
      if types.isEmpty {
        throw RecordError(
          .invalid(
            "neither \(arguments.local) nor \(remoteName) has a table to mirror; name the types")
        )
      }
    }
    // Otherwise the remote database reports no changes.
    var tracked = types.filter(Set(there).contains)
    for type in arguments.types where !there.contains(type) {
      if try await remote.hasTable(type) {
        // The reason why it cannot be mirrored is the error of tracking it.
        tracked.append(type)
      } else if arguments.runsOnce, try await !local.hasTable(type) {
        // A mirror that follows may wait for the first record.
        throw RecordError(
          .invalid("neither \(arguments.local) nor \(remoteName) has a table \(type)"))
      }
    }
    try await remote.keepChanges(of: tracked)
    return RecordMirror(
      of: types, in: local, with: remote.database, named: arguments.mirrorName,
      conflicts: arguments.conflicts, deletions: arguments.deletions,
      otherDatabase: arguments.otherDatabase)
  }

  private var schema: String { arguments.schema ?? "public" }

  /// The remote database for messages, without an address, which may contain a password.
  private var remoteName: String {
    switch remote {
    case .file: arguments.remote
    case .server: "the remote database"
    }
  }

  private func checkFiles() throws {
    if FileSystem.areSame(arguments.local, arguments.remote) {
      throw RecordError(.invalid("\(arguments.local) and \(arguments.remote) are the same file"))
    }
    let files = [arguments.local, arguments.remote]
    if files.allSatisfy({ FileSystem.isMissing($0) }) {
      throw RecordError(
        .invalid("no such file: \(arguments.local) and \(arguments.remote); one of them must exist")
      )
    }
  }

  private func close() async {
    await local.close()
    await remote.close()
  }

  // MARK: One round

  private func once(_ mirror: RecordMirror) async throws -> Int32 {
    let standardError = StandardError()
    let observation = try ProgramObservation(
      arguments.options, progressOn: standardError.isTerminal ? standardError : nil)
    let performed = try await ProgramRun(
      of: completeRound(of: mirror), observedBy: observation, awaitsEnd: true)
    var hasRejections = false
    if case .result(let report) = performed.outcome {
      hasRejections = try await show(mirror, report, on: standardError)
    }
    await close()
    try observation.end()
    switch performed.outcome {
    case .result(let report):
      if arguments.isJSON {
        try StandardOutput().write(Array((report.json + "\n").utf8))
      } else {
        standardError.writeLine("\(report)")
      }
      if report.delayedSince != nil {
        standardError.writeLine(
          "coop records: the last changes of \(remoteName) are not fetched: a transaction there has "
            + "been open for more than \(Self.longestDelay) seconds; end it, and mirror again")
      }
      return hasRejections || report.delayedSince != nil ? ExitStatus.failure : ExitStatus.success
    case .error(let error):
      standardError.writeLine("coop records: \(error)")
      if case .otherDatabase = (error as? RecordError)?.reason {
        standardError.writeLine("choose with --other-database merge or --other-database replace")
      }
      return ExitStatus.failure
    case .cancelled:
      standardError.writeLine("coop records: interrupted; the next round continues")
      return performed.interruptedStatus
    }
  }

  /// How many seconds a round waits for open transactions of other programs.
  private static var longestDelay: Int { 30 }

  /// Returns an operation for a round that also fetches what was committed before it began. A
  /// transaction that is open delays all changes after its own.
  private func completeRound(
    of mirror: RecordMirror
  ) -> some ComposableOperation<MirrorReport> {
    SimpleOperation.withContext { context in
      var (sum, delay, waited) = (MirrorReport(), Duration.milliseconds(20), Duration.zero)
      sum.add(try await context.run(mirror.sync))
      let first = sum.delayedSince
      // Until what was delayed at first has arrived. On a busy server, later changes are always delayed.
      while sum.delayedSince != nil, waited < .seconds(Self.longestDelay) {
        try await context.pause(delay)
        waited += delay
        delay = min(delay * 2, .seconds(1))
        sum.add(try await context.run(mirror.sync))
      }
      if sum.delayedSince != first { sum.delayedSince = nil }
      return sum
    }.named("mirror")
  }

  /// Shows the conflicts of a round, and the records that are rejected.
  ///
  /// - Returns: Whether there are rejected records.
  private func show(
    _ mirror: RecordMirror, _ report: MirrorReport, on output: StandardError
  ) async throws -> Bool {
    if report.startedOver { output.writeLine(MirrorChange.startedOver.line) }
    let lost = report.conflicts == 0 ? [] : try await mirror.lostValues().suffix(report.conflicts)
    let rejections = try await mirror.rejections().map { "rejected: \($0): \($1)" }.sorted()
    let lines = lost.map { MirrorChange.lost($0).line } + rejections
    let shown = 20
    for line in lines.prefix(shown) { output.writeLine(line) }
    if lines.count > shown {
      output.writeLine("… and \((lines.count - shown).counted("other line"))")
    }
    return !rejections.isEmpty
  }

  // MARK: Rounds until the end

  private func follow(_ mirror: RecordMirror) async throws -> Int32 {
    let display = MirrorDisplay()
    let observation = try ProgramObservation(arguments.options, progressOn: nil)
    let (changes, states, interval) = (mirror.changes, mirror.states, arguments.interval)
    let flow = ParallelOperation([
      AnyOperation(mirror.following(atLeastEvery: interval)),
      AnyOperation(
        SimpleOperation { for await change in changes { await display.show(change) } }
          .named("show changes")),
      AnyOperation(
        SimpleOperation { for await state in states { await display.show(state) } }
          .named("show states")),
    ]).named("mirror")
    let performed = try await ProgramRun(of: flow, observedBy: observation, awaitsEnd: true)
    await display.end()
    await close()
    try observation.end()
    switch performed.outcome {
    case .result: return ExitStatus.success
    case .error(let error):
      StandardError().writeLine("coop records: \(error)")
      return ExitStatus.failure
    case .cancelled:
      StandardError().writeLine("\(await display.summary)")
      return performed.interruptedStatus
    }
  }
}

/// The lines of a mirror that follows: each change on standard output, and on a terminal a line
/// with the state and the counts.
private actor MirrorDisplay {
  private let output = StandardOutput()
  private let standardError = StandardError()
  private let screen = Screen()
  private var counts = MirrorCounts()
  private var state = MirrorState.idle(after: nil)
  private var hasEnded = false
  /// The last problem that was written as a line.
  private var shownProblem: String?

  var summary: String { counts.description }

  func show(_ change: MirrorChange) {
    if standardError.isTerminal { screen.show([], on: standardError) }
    try? output.write(Array((change.line + "\n").utf8))
    showState()
  }

  func show(_ state: MirrorState) {
    // A problem is a line once, and not for each attempt.
    if !standardError.isTerminal, let problem = state.problem, problem != shownProblem {
      standardError.writeLine(problem)
      shownProblem = problem
    }
    self.state = state
    if case .idle(let report?) = state {
      counts.add(report)
      shownProblem = nil
    }
    showState()
  }

  private func showState() {
    guard standardError.isTerminal, !hasEnded else { return }
    screen.show(["\(state.line) · \(counts)"], on: standardError)
  }

  func end() {
    hasEnded = true
    if standardError.isTerminal { screen.show([], on: standardError) }
  }
}

/// The sums of the reports of rounds.
private struct MirrorCounts: CustomStringConvertible {
  private var rounds = 0
  private var saved = 0
  private var deleted = 0
  private var sent = 0
  private var conflicts = 0
  private var rejected = 0

  mutating func add(_ report: MirrorReport) {
    rounds += 1
    saved += report.saved
    deleted += report.deleted
    sent += report.sent + report.sentDeletions
    conflicts += report.conflicts
    rejected += report.rejected
  }

  var description: String {
    let problems = [(conflicts, "conflict"), (rejected, "rejection")].filter { $0.0 > 0 }
      .map { ", \($0.0.counted($0.1))" }.joined()
    return "\(rounds.counted("round")): \(saved) saved, \(deleted) deleted, \(sent) sent\(problems)"
  }
}

extension MirrorState {
  fileprivate var line: String {
    guard let problem else { return isSyncing ? "syncing" : "in step" }
    if case .waiting(let delay, _) = self { return "\(problem); next round in \(delay)" }
    return problem
  }

  private var isSyncing: Bool { if case .syncing = self { true } else { false } }

  /// Why rounds fail; nil if they do not.
  fileprivate var problem: String? {
    switch self {
    case .idle, .syncing: nil
    case .noAccount: "the remote database does not exist or cannot be used"
    case .waiting(_, let error): "\(error)"
    case .failing(let error, _): "failing: \(error)"
    }
  }
}

extension MirrorChange {
  fileprivate var line: String {
    switch self {
    case .saved(let record): "saved \(record.id)"
    case .deleted(let id): "deleted \(id)"
    case .startedOver: "fetching all rows again: the remote database no longer has all changes"
    case .lost(let lost): "conflict: \(lost)"
    case .rejected(let error): "rejected: \(error)"
    }
  }
}

extension MirrorReport {
  fileprivate var json: String {
    var json = JSONWriter()
    json.object { json in
      for (name, count) in [
        ("saved", saved), ("deleted", deleted), ("sent", sent), ("sentDeletions", sentDeletions),
        ("conflicts", conflicts), ("rejected", rejected),
      ] { json.member(name, count) }
      json.name("startedOver")
      json.literal(startedOver ? "true" : "false")
      json.name("isDelayed")
      json.literal(delayedSince == nil ? "false" : "true")
      json.name("missingTypes")
      json.array { json in for type in missingTypes { json.string(type) } }
    }
    return json.text
  }
}
