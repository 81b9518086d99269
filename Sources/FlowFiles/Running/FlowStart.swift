import CompositeOperations
import Foundation
import SystemSupport

/// The beginning of a run: a new one, or an earlier one that is continued.
struct FlowStart: Sendable {
  let run: FlowRunRecord
  /// The last successes by the name of the step or the child.
  let records: [ExactText: FlowRecord]
  /// The later runs of some steps whose successes belong to this run.
  let parts: Set<Int>
  /// Whether an earlier process has begun the run.
  let isContinued: Bool
  /// Whether the run has succeeded. It is continued only by its name.
  let isOver: Bool
  /// Whether commands of an earlier process may be running.
  let mayHaveOrphans: Bool
  /// The continued run as the journal has it; nil for a new run.
  private let continued: FlowRunRecord?
  /// The last run in the journal.
  private let last: FlowRunRecord?
  /// An earlier run that the new one replaces.
  private let replaced: Int?
  /// Why an earlier run is not continued.
  private let refusal: String?

  /// Decides which run is continued, or that a new one begins.
  ///
  /// - Parameters:
  ///   - definitions: The definitions of the steps by name, which most of the successes have.
  ///   - others: The runs that other processes work on.
  ///   - hasKilledRuns: Whether the process of a run has ended without storing it.
  init(
    _ file: FlowFile, journal: FlowJournal, _ options: FlowRunOptions,
    definitions: [String: String], beside others: [FlowRunHolder] = [],
    hasKilledRuns: Bool = false
  ) async throws {
    let last = try await journal.lastRun()
    self.last = last
    let values = Self.json(file.texts)
    let selection = options.selection.text
    let candidate = try await journal.lastRun(
      named: options.name, values: values, selection: selection)
    if let name = options.name, let candidate, !options.isFresh,
      !candidate.values.hasSameBytes(as: values) || candidate.selection != selection
    {
      let found = "\(candidate.values)\(candidate.selection.map { " and \($0)" } ?? "")"
      throw FlowFailure.other(
        "run '\(name)' has other values or steps: \(found.onOneLine); expected the same ones, another "
          + "name, or --fresh")
    }
    let state = candidate?.state
    let next = max(last?.number ?? 0, others.map(\.run).max() ?? 0) + 1
    let isNew = options.selection.isPart || options.isFresh || state == .cancelled
    if !isNew, let other = others.first(where: { $0.run == candidate?.number }) {
      throw FlowLockedError(flow: file.name, holder: other)
    }
    var refusal: String?
    if let candidate, !isNew, options.name == nil, state != .succeeded {
      // A killed process has not stored its end.
      let ended =
        state == .failed
        ? nil : try await journal.lastSignOfLife(ofRun: candidate.number).map(Date.init)
      refusal = Self.refusal(candidate, ended, file, next: next)
    }
    isOver = state == .succeeded
    isContinued =
      candidate != nil && !isNew && refusal == nil && (!isOver || options.name != nil)
    replaced = isContinued || state != nil ? nil : candidate?.number
    self.refusal = refusal
    continued = isContinued ? candidate : nil
    let path = FlowFolder.absolutePath(file.path)
    run = FlowRunRecord(
      number: continued?.number ?? next, file: path, values: values,
      selection: selection, name: continued?.name ?? options.name,
      began: continued?.began ?? FlowStepRecord.now)
    parts = try await isContinued ? journal.parts(of: run) : []
    records = try await journal.records(
      preferring: parts.union([run.number]), sharing: definitions)
    // The commands of `on` run after the end of the run is stored.
    mayHaveOrphans =
      hasKilledRuns || last != nil && !file.occasions.isEmpty
      // Some processes did not end after SIGKILL.
      || candidate != nil && state != .succeeded || last != nil && last?.state != .succeeded
  }

  /// Throws a failure if the runs are those of another file, which still exists.
  func checkFile() throws(FlowFailure) {
    guard let last, last.file != run.file,
      let other = try? FileStatus(ofFile: last.file).identity,
      other != (try? FileStatus(ofFile: run.file).identity)
    else { return }
    throw .other(
      "the folder of the state has the runs of \(last.file.onOneLine); expected another folder for "
        + run.file.onOneLine)
  }

  /// Why a run that has not succeeded is too old to be continued; nil if it is not.
  private static func refusal(
    _ run: FlowRunRecord, _ ended: Date?, _ file: FlowFile, next: Int
  ) -> String? {
    let ended = ended ?? Date(milliseconds: run.updated)
    // A clock that was set back says nothing about the age.
    let age = Duration.milliseconds(max(0, Int64(-ended.timeIntervalSinceNow * 1_000)))
    if age <= file.resumeWithin { return nil }
    let end = run.state == .failed ? "failed" : "was interrupted"
    return "run \(run.number) \(end) \(age.readableTime) ago, more than resume-within "
      + "(\(file.resumeWithin.readableTime)): beginning run \(next)"
  }

  /// The values as JSON with sorted names.
  private static func json(_ values: [String: String]) -> String {
    var json = JSONWriter()
    json.object { json in
      for (name, text) in values.sorted(by: { $0.key < $1.key }) { json.member(name, text) }
    }
    return json.text
  }

  /// Stores the beginning of the run.
  func begin(in journal: FlowJournal) async throws {
    try await journal.begin(run, replacing: replaced)
  }

  /// The message about the run that is continued or not; nil for a new run.
  func message(_ file: FlowFile, _ plan: FlowPlan) -> String? {
    guard isContinued else { return refusal }
    let name = run.name.map { " (\($0))" } ?? ""
    let date = Date(milliseconds: continued?.updated ?? run.began)
    if isOver {
      return "run \(run.number)\(name) of '\(file.name)' has succeeded at \(date.timeWithSeconds)"
    }
    let end = continued?.state == .failed ? "failed" : "interrupted"
    let done = plan.count { $0 == .done || $0 == .upToDate }
    let count = plan.count { $0 != .excluded }
    var text =
      "resuming run \(run.number)\(name) of '\(file.name)', \(end) at \(date.timeWithSeconds): "
      + "\(done) of \(count.counted("step")) \(count == 1 ? "is" : "are") done"
    let names = plan.redefined.map { "'\($0)'" }
    switch names.count {
    case 0: break
    case 1: text += "; \(names[0]) runs again because its definition changed"
    default:
      text += "; \(names.dropLast().joined(separator: ", ")) and \(names.last ?? "") run again "
      text += "because their definitions changed"
    }
    return text
  }
}
