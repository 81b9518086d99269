import CommandLineOperations
import RecordOperations
import SystemSupport

/// The lines of a mirror that follows: each change on standard output, and on a terminal a line
/// with the state and the counts.
actor MirrorDisplay {
  private let output = StandardOutput()
  private let standardError = StandardError()
  private let screen = Screen()
  private var counts = MirrorCounts()
  private var state = MirrorState.idle(after: nil)
  private var hasEnded = false
  /// The last problem that was written as a line.
  private var shownProblem: String?
  /// The records that were rejected before the first round; nil after it.
  private var earlierRejections: [RecordID: String]?
  /// In what the databases differ after the last round.
  private var differences: [String] = []

  /// - Parameter rejections: The records that are rejected before the first round.
  init(rejections: [RecordID: String]) { earlierRejections = rejections }

  /// The counts of all rounds, and in what the databases differ after the last one.
  var summary: String { ([counts.description] + differences).joined(separator: "; ") }

  func show(_ change: MirrorChange) {
    if standardError.isTerminal { screen.show([], on: standardError) }
    try? output.write(Array((change.line + "\n").utf8))
    showState()
  }

  /// Shows a state.
  ///
  /// - Parameter rejections: The records that are rejected after a round, with the reasons.
  func show(_ state: MirrorState, rejections: [RecordID: String]?) {
    // A problem is a line once, and not for each attempt.
    if !standardError.isTerminal, let problem = state.problem, problem != shownProblem {
      standardError.writeLine(problem)
      shownProblem = problem
    }
    self.state = state
    if case .idle(let report?) = state {
      counts.add(report)
      shownProblem = nil
      note(report, rejections ?? [:])
    }
    showState()
  }

  private func note(_ report: MirrorReport, _ rejections: [RecordID: String]) {
    // No change of these rounds reports them.
    if let earlier = earlierRejections {
      let lines = rejections.filter { earlier[$0.key] == $0.value }.map { "rejected: \($0): \($1)" }
      for line in lines.sorted().shortened { note(line) }
      earlierRejections = nil
    }
    let missing = report.missingTypes.map { "no table \($0)" }
    for line in missing where !differences.contains(line) { note("\(line) in either database") }
    let isDelayed = report.delayedSince != nil
    differences =
      (rejections.isEmpty ? [] : ["\(rejections.count.counted("record")) rejected"]) + missing
      + (isDelayed ? ["an open transaction delays remote changes"] : [])
  }

  /// Writes a line that is no change.
  func note(_ line: String) {
    if standardError.isTerminal { screen.show([], on: standardError) }
    standardError.writeLine(line)
    showState()
  }

  private func showState() {
    guard standardError.isTerminal, !hasEnded else { return }
    screen.show(["\(state.line(differences)) · \(counts)"], on: standardError)
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
  /// - Parameter differences: In what the databases differ after the last round.
  fileprivate func line(_ differences: [String]) -> String {
    guard let problem else {
      if isSyncing { return "syncing" }
      return differences.isEmpty
        ? "in step" : "in step, except: " + differences.joined(separator: ", ")
    }
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
  var line: String {
    switch self {
    case .saved(let record): "saved \(record.id)"
    case .deleted(let id): "deleted \(id)"
    case .startedOver: "fetching all rows again: the remote database no longer has all changes"
    case .lost(let lost): "conflict: \(lost)"
    case .rejected(let error): "rejected: \(error)"
    }
  }
}

extension [String] {
  /// The first 20 lines, and one that counts the others.
  var shortened: [String] {
    count <= 20 ? self : prefix(20) + ["… and \((count - 20).counted("other line"))"]
  }
}

extension MirrorReport {
  /// - Parameter rejections: The records that are rejected after the round, with the reasons.
  func json(_ rejections: [RecordID: String]) -> String {
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
      json.name("rejections")
      json.object { json in
        for (id, reason) in rejections.map({ ("\($0)", $1) }).sorted(by: { $0.0 < $1.0 }) {
          json.member(id, reason)
        }
      }
    }
    return json.text
  }
}
