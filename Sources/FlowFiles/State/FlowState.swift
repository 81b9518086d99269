import Foundation
import SQLiteSupport
import SystemSupport

/// What the runs of a flow file have stored: the last run, the logs, and what a run would do now.
///
/// It only reads, so that the folder may be read-only.
///
/// ```swift
/// import FlowFiles
///
/// let file = try FlowFile(contentsOf: "pipeline.yaml")
/// let state = FlowState(of: file)
/// for step in try await state.dryRun().steps { print(step.name, step.reason) }
/// ```
public struct FlowState: Sendable {
  let file: FlowFile
  let folder: FlowFolder

  /// - Parameters:
  ///   - file: The flow file.
  ///   - folder: The path of the folder of the state; nil for `.flow/<flow>` beside the file.
  public init(of file: FlowFile, in folder: String? = nil) {
    self.file = file
    self.folder = FlowFolder(ofFile: file.path, flow: file.name, state: folder)
  }

  /// Returns the run that a process has begun or continued last, which may be in progress.
  ///
  /// - Parameter name: The name of the run; nil for any one.
  /// - Returns: Nil if there is no such run.
  /// - Throws: An error of the file of the state.
  public func lastRun(named name: String? = nil) async throws -> FlowReport? {
    try await reading { journal in
      guard let journal, let run = try await journal.lastActiveRun(named: name) else { return nil }
      return try await FlowReport(file, run, journal, isRunning: folder.isRunning(run.number))
    }
  }

  /// Returns what a run would do now, without running it.
  ///
  /// - Throws: A ``FlowFileError`` if there is no such step; an error of an input, or of the file of the
  ///   state.
  public func dryRun(_ options: FlowRunOptions = FlowRunOptions()) async throws -> FlowDryRun {
    let selection = try options.selection.resolved(in: file)
    return try await reading { journal in
      let environment = ProcessInfo.processInfo.environment
      let key = file.secrets.isEmpty ? nil : try await journal?.secretKey()
      let definitions = file.definitions(environment: environment, hashingWith: key ?? "")
      var start: FlowStart?
      if let journal {
        start = try await FlowStart(file, journal: journal, options, definitions: definitions)
      }
      let checker = FlowChecker(file, folder, start, definitions, hiding: .none)
      let plan = try FlowPlan(checker, selection: selection)
      try plan.checkInputs(checker)
      return FlowDryRun(file, plan)
    }
  }

  /// Returns the log of a step, of a child such as `step[value]`, or of a command of `on` such as `on failure`, in the
  /// last run that has one.
  ///
  /// - Parameters:
  ///   - name: The name of the step or the child, or of the command of `on`.
  ///   - runName: The name of the run; nil for any one.
  /// - Throws: A ``FlowFileError`` if there is no such step; an error if there is no log.
  public func log(of name: String, inRun runName: String? = nil) async throws -> [UInt8] {
    try checkLog(of: name)
    let runs = try await runs(named: runName)
    let logs = runs.compactMap { run in
      let path = folder.path(ofLog: name, inRun: run)
      return (try? FileStatus(ofFile: path)).map { (path: path, time: $0.modified) }
    }
    // A run may have been continued after the begin of a later one.
    let last = logs.max {
      ($0.time.seconds, $0.time.nanoseconds) < ($1.time.seconds, $1.time.nanoseconds)
    }
    if let last { return try FileDescriptor.contents(ofFile: last.path) }
    let run = runName.map { " in run '\($0.onOneLine)'" } ?? ""
    throw FlowFailure.other("'\(name.onOneLine)' has no log\(run): \(reasonForNoLog(of: name))")
  }

  /// - Throws: A ``FlowFileError`` if no step, no child and no command of `on` can have the name.
  func checkLog(of name: String) throws(FlowFileError) {
    if FlowOccasion(unit: name) != nil { return }
    try file.checkStep(name.utf8.last == UInt8(ascii: "]") ? name.stepName : name)
  }

  private func reasonForNoLog(of name: String) -> String {
    if let occasion = FlowOccasion(unit: name), file.occasions[occasion] == nil {
      return "'on' of the file has no command for it"
    }
    if let step = file.step(named: name) {
      if step.isGroup { return "it has no command; name a step that it needs" }
      if step.each != nil {
        return "each of its children has one; name a child, '\(name.onOneLine)[VALUE]'"
      }
    }
    return "it has not run yet, or its last run is not kept any more"
  }

  /// The numbers of the runs that have logs.
  ///
  /// - Parameter name: The name of the runs; nil for all.
  func runs(named name: String?) async throws -> [Int] {
    guard let name else { return folder.runs }
    let named = try await reading { try await $0?.runs(named: name) ?? [] }
    return folder.runs.filter(named.contains)
  }

  /// Calls a body with the journal; with nil if the flow has not run yet.
  func reading<Value>(_ body: (FlowJournal?) async throws -> Value) async throws -> Value {
    let path = folder.database
    if FileSystem.isMissing(path) { return try await body(nil) }
    // SQLite needs files beside it.
    let database = SQLiteFile(path)
    if database.hasWritableFolder || database.hasWAL {
      return try await Self.reading(file.name, path, body)
    }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    let copy = folder.appendingPathComponent("state.sqlite").path
    try Self.copy(path, to: copy)
    return try await Self.reading(file.name, copy, body)
  }

  /// Copies a database that no process changes meanwhile: one that does has a WAL.
  private static func copy(_ path: String, to copy: String) throws {
    for _ in 0..<10 {
      let status = try FileStatus(ofFile: path)
      try? FileManager.default.removeItem(atPath: copy)
      try FileManager.default.copyItem(atPath: path, toPath: copy)
      if !SQLiteFile(path).hasWAL, try FileStatus(ofFile: path).isUnchanged(since: status) {
        return
      }
    }
    throw FlowFailure.other(
      "\(path.onOneLine) cannot be read, because its folder is not writable and a process writes it"
    )
  }

  private static func reading<Value>(
    _ flow: String, _ path: String, _ body: (FlowJournal?) async throws -> Value
  ) async throws -> Value {
    let journal = FlowJournal(of: flow, at: path, for: .reading)
    do {
      let value = try await body(try await journal.open() ? journal : nil)
      await journal.close()
      return value
    } catch {
      await journal.close()
      throw error
    }
  }
}

/// What a run of a flow file would do.
public struct FlowDryRun: Sendable {
  /// A step that would or might run.
  public struct Step: Sendable {
    public let name: String
    /// Why it would run, such as `its definition changed`; or on what it depends whether it runs.
    public let reason: String
  }

  /// The steps that would or might run, in the order of the file.
  public let steps: [Step]
  /// The number of steps that would not run, because they are current.
  public let currentCount: Int

  init(_ file: FlowFile, _ plan: FlowPlan) {
    steps = file.steps.compactMap { step in
      switch plan.decisions[step.name] {
      case .runs(let reason): Step(name: step.name, reason: "\(reason)")
      case .mayRun(let need) where !step.isGroup:
        Step(name: step.name, reason: "if '\(need)' changes an output")
      case .mayRun, .done, .upToDate, .excluded, nil: nil
      }
    }
    currentCount = plan.count { $0 == .done || $0 == .upToDate }
  }
}
