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
      let (mirror, tables) = try await makeMirror()
      return arguments.runsOnce ? try await once(mirror) : try await follow(mirror, tables)
    } catch let error as RecordError {
      StandardError().writeFailure("coop records: \(error)")
      return ExitStatus.failure
    }
  }

  /// Finds the tables, and tracks their changes in the remote database.
  private func makeMirror() async throws -> (RecordMirror, MirrorTableList) {
    if case .file = remote { try checkFiles() }
    if try await remote.isMissing() {
      StandardError().writeLine("\(remoteName) has no schema \(schema) yet; it will be created")
    }
    let tables = try await mirrorTables()
    var types = arguments.types
    if types.isEmpty {
      tables.leftOut.forEach(StandardError().writeLine)
      types = tables.mirrored
      if types.isEmpty {
        throw RecordError(
          .invalid(
            "neither \(arguments.local) nor \(remoteName) has a table to mirror; name the types")
        )
      }
    }
    // Otherwise the remote database reports no changes.
    let there = tables.remote
    var tracked = types.filter(there.contains)
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
    let mirror = RecordMirror(
      of: types, in: local, with: remote.database, named: arguments.mirrorName,
      conflicts: arguments.conflicts, deletions: arguments.deletions,
      otherDatabase: arguments.otherDatabase)
    return (mirror, tables)
  }

  private func mirrorTables() async throws -> MirrorTableList {
    let tables = (try await local.mirrorProblems(), try await remote.mirrorProblems())
    return MirrorTableList(local: tables.0, remote: tables.1, (arguments.local, remoteName))
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
    var rejections: [RecordID: String] = [:]
    if case .result(let report) = performed.outcome {
      rejections = try await show(mirror, report, on: standardError)
    }
    await close()
    try observation.end()
    switch performed.outcome {
    case .result(let report):
      if arguments.isJSON {
        try StandardOutput().write(Array((report.json(rejections) + "\n").utf8))
      } else {
        standardError.writeLine("\(report)")
      }
      if report.delayedSince != nil {
        standardError.writeLine(
          "coop records: the last changes of \(remoteName) are not fetched: a transaction there has "
            + "been open for more than \(Self.longestDelay) seconds; end it, and mirror again")
      }
      return !rejections.isEmpty || report.delayedSince != nil
        ? ExitStatus.failure : ExitStatus.success
    case .error(let error):
      standardError.writeFailure("coop records: \(error)")
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
  /// - Returns: The records that are rejected after the round, with the reasons.
  private func show(
    _ mirror: RecordMirror, _ report: MirrorReport, on output: StandardError
  ) async throws -> [RecordID: String] {
    if report.startedOver { output.writeLine(MirrorChange.startedOver.line) }
    let lost = report.conflicts == 0 ? [] : try await mirror.lostValues().suffix(report.conflicts)
    let rejections = try await mirror.rejections()
    let lines =
      lost.map { MirrorChange.lost($0).line }
      + rejections.map { "rejected: \($0): \($1)" }.sorted()
    lines.shortened.forEach(output.writeLine)
    return rejections
  }

  // MARK: Rounds until the end

  private func follow(
    _ mirror: RecordMirror, _ tables: MirrorTableList
  ) async throws -> Int32 {
    let display = MirrorDisplay(rejections: try await mirror.rejections())
    let observation = try ProgramObservation(arguments.options, progressOn: nil)
    let (changes, states, interval) = (mirror.changes, mirror.states, arguments.interval)
    let flow = ParallelOperation([
      AnyOperation(mirror.following(atLeastEvery: interval)),
      AnyOperation(
        SimpleOperation { for await change in changes { await display.show(change) } }
          .named("show changes")),
      AnyOperation(
        SimpleOperation {
          for await state in states {
            var rejections: [RecordID: String]?
            if case .idle(_?) = state { rejections = try? await mirror.rejections() }
            await display.show(state, rejections: rejections)
          }
        }.named("show states")),
      AnyOperation(
        SimpleOperation.withContext { context in
          if arguments.types.isEmpty {
            try await watchTables(after: tables, for: display, in: context)
          }
        }.named("watch the tables")),
    ]).named("mirror")
    let performed = try await ProgramRun(of: flow, observedBy: observation, awaitsEnd: true)
    await display.end()
    await close()
    try observation.end()
    switch performed.outcome {
    case .result: return ExitStatus.success
    case .error(let error):
      StandardError().writeFailure("coop records: \(error)")
      return ExitStatus.failure
    case .cancelled:
      StandardError().writeLine("\(await display.summary)")
      return performed.interruptedStatus
    }
  }
  /// Shows tables that another program creates, until it is cancelled.
  private nonisolated(nonsending) func watchTables(
    after tables: MirrorTableList, for display: MirrorDisplay, in context: OperationContext
  ) async throws {
    var shown = tables
    while true {
      try await context.pause(arguments.interval)
      do {
        let tables = try await mirrorTables()
        for line in tables.news(since: shown) { await display.note(line) }
        shown = tables
      } catch let error as RecordError {
        // The rounds fail for the same reason, and show it.
        context.log("\(error)")
      }
    }
  }
}
