import CompositeOperations
import CompositeOperationsFoundation
import SystemSupport

/// An attempt to run the commands of a step or a child, one after another.
struct FlowAttempt: ComposableOperation {
  /// The maximum number of lines that `lines-of` reads.
  static let mostLines = 100_000

  let unit: FlowUnit
  /// See ``FlowLaunch/basis``.
  let basis: String
  let attempts: FlowAttemptCounter
  let session: FlowSession

  var operationName: String { "attempt" }

  /// - Returns: The lines or the rows of the standard output, if another step reads them.
  func perform(in context: OperationContext) async throws -> [String]? {
    let isInteractive = unit.step.isInteractive
    if isInteractive { session.reporter.report(.terminal(isUsed: true)) }
    defer { if isInteractive { session.reporter.report(.terminal(isUsed: false)) } }
    return try await session.endingProcesses(of: unit) { try await lines(in: context) }
  }

  private nonisolated(nonsending) func lines(in context: OperationContext) async throws -> [String]?
  {
    let hasRows = session.checker.rowSources.contains(unit.name)
    let isSource = session.checker.lineSources.contains(unit.name)
    let limit = isSource ? session.runner.mostLineBytes : nil
    var lines: [String] = []
    var output: [UInt8] = []
    for command in unit.step.commands {
      let launch = FlowLaunch(
        command, of: unit, session.file, session.checker.values, in: session.folder,
        basis: basis, outputLimit: limit)
      let result = try await session.runner.run(
        launch, of: unit,
        after: { [session, unit, attempts] in
          try session.beginOutput(of: launch, unit, "attempt \(attempts.count)", attempts)
        },
        accepting: { [accept = unit.step.accept] status in
          if case .exited(let code) = status { accept.contains(code) } else { false }
        }, in: context)
      guard let limit else { continue }
      if result.droppedOutput > 0 {
        throw FlowFailure.lines(
          "it wrote more than \(limit.grouped) bytes for \(hasRows ? "rows-of" : "lines-of")")
      }
      if result.isOutputHeldOpen == true {
        throw FlowFailure.lines(
          "a process that it has left in the background holds its standard output open, so "
            + "\(hasRows ? "rows" : "lines") may be missing; redirect the output of that process")
      }
      if session.checker.secrets.areFound(in: Array(result.output)) {
        throw FlowFailure.lines(
          "it wrote a secret, which would be stored for \(hasRows ? "rows-of" : "lines-of")")
      }
      if hasRows {
        output += result.output
      } else {
        lines += try Self.lines(result, after: lines.count)
      }
    }
    // The terminal has sent the signal, and the program may have ended with status 0 because of it.
    if unit.step.isInteractive { try Task.checkCancellation() }
    try unit.checkOutputs(session.checker.values, in: session.folder)
    if hasRows { return try FlowRowReader.values(ofOutput: output) }
    return isSource ? lines.unique : nil
  }

  private static func lines(
    _ result: FlowCommandResult, after count: Int
  ) throws -> [String] {
    let lines = try result.lines
    if count + lines.count > mostLines {
      throw FlowFailure.lines(
        "it wrote \((count + lines.count).grouped) lines; lines-of reads at most "
          + "\(mostLines.grouped)")
    }
    if lines.contains(where: { $0.utf8.contains(0) }) {
      throw FlowFailure.lines("it wrote U+0000, which no command can have in a value")
    }
    return lines
  }
}

/// The condition of a step: whether its command ends with status 0.
struct FlowConditionCommand: ComposableOperation {
  let command: FlowCommand
  let unit: FlowUnit
  let basis: String
  let attempts: FlowAttemptCounter
  let session: FlowSession

  var operationName: String { "only-if" }

  func perform(in context: OperationContext) async throws -> Bool {
    session.began(unit, attempt: 0)
    return try await session.endingProcesses(of: unit) {
      let launch = FlowLaunch(
        command, of: unit, session.file, session.checker.values, in: session.folder,
        basis: basis)
      let result = try await session.runner.run(
        launch, of: unit,
        after: { [session, unit, attempts, operationName] in
          try session.beginOutput(of: launch, unit, operationName, attempts)
        }, accepting: { _ in true }, in: context)
      switch result.status {
      case .exited(0): return true
      case .exited(1):
        try await session.runner.endProcesses(of: unit)
        return false
      case let status: throw FlowFailure.onlyIf(status)
      }
    }
  }
}

extension FlowSession {
  /// Writes the line before the output of a command into the log.
  fileprivate func beginOutput(
    of launch: FlowLaunch, _ unit: FlowUnit, _ label: String, _ attempts: FlowAttemptCounter
  ) throws {
    let log = checker.log(of: unit.name)
    output.began(unit.name, log)
    let line = try output.writing(to: unit.name) { try log.begin(launch.words, as: label) }
    attempts.began(outputAt: line.upperBound)
  }

  /// Runs a body, and if it fails ends the processes that its commands have left. A step that has
  /// succeeded may leave processes in the background.
  fileprivate nonisolated(nonsending) func endingProcesses<Value>(
    of unit: FlowUnit, _ body: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    do { return try await body() } catch {
      try await runner.endProcesses(of: unit)
      // The error of a process has its command and its output.
      if checker.secrets.isEmpty || error.meansCancellation { throw error }
      throw FlowFailure(error).hiding(checker.secrets)
    }
  }
}

extension FlowFailure {
  /// Whether another attempt may succeed.
  var isWorthRetrying: Bool {
    switch self {
    case .status, .timeout, .other: true
    case .onlyIf, .children, .lines: false
    }
  }
}

extension [String] {
  /// The first occurrences of the texts.
  fileprivate var unique: [String] {
    var seen: Set<ExactText> = []
    return filter { seen.insert(ExactText($0)).inserted }
  }
}
