import CompositeOperations
import CompositeOperationsFoundation
import FlowFiles
import SystemSupport

/// An attempt to run the commands of a step or a child, one after another.
struct FlowAttempt: ComposableOperation {
  /// The maximum number of lines that `lines-of` reads, and of their bytes.
  static let mostLines = 100_000
  static let mostBytes = 8 << 20

  let unit: FlowUnit
  let session: FlowSession

  var operationName: String { "attempt" }

  /// - Returns: The lines of the standard output, if another step reads them.
  func perform(in context: OperationContext) async throws -> [String]? {
    let isSource = session.lineSources.contains(unit.name)
    let log = FlowLog(session.folder.log(of: unit.name))
    var lines: [String] = []
    for command in unit.step.commands {
      var process = session.process(command, of: unit)
        .accepting { [accept = unit.step.accept] status in
          if case .exited(let code) = status { accept.contains(code) } else { false }
        }
      if isSource {
        process = process.sendingOutput(to: .kept(first: Self.mostBytes))
          .sendingErrorOutput(to: .appended(to: log.path))
      }
      // Performed as a part of this operation, so that the result is known after a cancellation.
      do {
        let result = try await process.perform(in: context)
        session.processes.ended(unit)
        if isSource {
          try log.append(result.output.bytes)
          lines += try Self.lines(result.output, after: lines.count)
        }
      } catch {
        session.processes.ended(unit)
        if isSource, let exit = error as? ProcessExitError {
          try log.append(exit.result.output.bytes)
        }
        throw error
      }
    }
    return isSource ? lines.unique : nil
  }

  private static func lines(_ output: ProcessOutput, after count: Int) throws -> [String] {
    if output.droppedByteCount > 0 {
      throw FlowFailure.lines("it wrote more than \(mostBytes.grouped) bytes for lines-of")
    }
    let lines = output.lines.filter { !$0.isEmpty }
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
  let session: FlowSession

  var operationName: String { "only-if" }

  func perform(in context: OperationContext) async throws -> Bool {
    let result = try await session.process(command, of: unit).accepting { _ in true }
      .perform(in: context)
    session.processes.ended(unit)
    switch result.status {
    case .exited(0): return true
    case .exited(1): return false
    case let status: throw FlowFailure.onlyIf(status)
    }
  }
}

extension FlowSession {
  /// The process of a command. Its outputs are appended to the log.
  func process(_ command: FlowCommand, of unit: FlowUnit) -> ProcessOperation {
    let values = checker.values
    let directory = folder.workingFolder(unit.directory(values))
    var variables: [String: String?] = [:]
    var process: ProcessOperation
    switch command {
    case .program(let words):
      let words = words.map { $0.text(values, each: unit.each) }
      process = ProcessOperation(
        words.first ?? "", arguments: Array(words.dropFirst()), in: directory)
    case .shell(let text):
      process = ProcessOperation("/bin/sh", arguments: ["-eu", "-c", text], in: directory)
      // No value becomes a part of the text.
      for (name, value) in values { variables[name] = value }
      if let each = unit.each { variables["each"] = each }
    }
    for variable in unit.step.environment {
      variables[variable.name] = variable.text.text(values, each: unit.each)
    }
    variables[FlowProcesses.variable] = processes.mark
    if let file = unit.step.standardInput {
      let path = file.text(values, each: unit.each)
      process = process.reading(.file(full(path, in: directory)))
    }
    return process.settingVariables(variables)
      .sendingOutput(to: .appended(to: folder.log(of: unit.name)))
      .mergingErrorOutput()
      .onLaunch { [processes] in processes.began($0, unit) }
  }

  private func full(_ path: String, in directory: String) -> String {
    path.hasPrefix("/") ? path : directory.path(of: path)
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
    var seen: Set<String> = []
    return filter { seen.insert($0).inserted }
  }
}
