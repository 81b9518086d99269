import DurableOperations
import FlowFiles
import Foundation

/// The steps of a run of a flow file, with what is known of them.
struct FlowRunSteps: Sendable {
  let flow: String
  /// The absolute path of the flow file.
  let file: String
  /// The options that select steps; nil for a run of all steps.
  let selection: String?
  /// Sentences about what is missing or may be different from the run.
  private(set) var notes: [String] = []
  /// The steps in an order in which each one follows its dependencies, each with its children.
  private(set) var all: [FlowStepView] = []
  /// The number of children that are not listed: those that need less attention.
  private(set) var omittedChildren: Int
  let logs: FlowRunLogs

  var steps: [FlowStepView] { all.filter { $0.parent == nil } }

  /// When a step began or ended last; nil if none has begun.
  var lastChange: Date? { steps.compactMap { $0.ended ?? $0.began }.max() }

  /// - Parameters:
  ///   - file: The flow file as it is now; nil if it cannot be read.
  ///   - problem: Why it cannot be read.
  init(
    _ flow: String, _ rows: FlowRunRows, _ file: FlowFile?, _ problem: String?,
    _ logs: FlowRunLogs, _ run: RunSummary
  ) {
    self.flow = flow
    self.file = rows.file
    selection = rows.selection
    self.logs = logs
    let isLive = run.state == .running
    let counts = Dictionary(grouping: rows.counts, by: \.parent).mapValues { counts in
      Dictionary(
        counts.map { (FlowStepStatus($0.state, isLive: isLive), $0.count) }, uniquingKeysWith: +)
    }
    omittedChildren = rows.counts.reduce(0) { $0 + $1.count } - rows.children.count
    let records = Dictionary(rows.steps.map { ($0.unit, $0) }, uniquingKeysWith: { $1 })
    let children = Dictionary(grouping: rows.children) { $0.parent ?? "" }
    let selected = file.flatMap { Self.selection(rows.selection, in: $0) }
    var states: [String: FlowStepView.State] = [:]
    var names: Set<String> = []
    func add(_ name: String, needs: [String], after: [String]) {
      names.insert(name)
      let record = records[name]
      var view = FlowStepView(
        name: name, needs: needs, after: after,
        state: record.map { FlowStepStatus($0.state, isLive: isLive) }
          ?? FlowStepStatus(
            unbegun: selected?.contains(name) ?? true, isLive: isLive,
            needs: needs.compactMap { states[$0] }, after: after.compactMap { states[$0] }))
      if view.state == .skipped { view.reason = "a step that it needs has not succeeded" }
      if let record { view.update(from: record) }
      view.children = counts[name] ?? [:]
      if !view.children.isEmpty, view.childCount == nil {
        view.childCount = view.children.values.reduce(0, +)
      }
      view.place = rows.places[name]
      states[name] = view.state
      all.append(view)
      for record in children[name, default: []].sorted(by: { $0.unit < $1.unit }) {
        var child = FlowStepView(
          name: record.unit, parent: name, state: FlowStepStatus(record.state, isLive: isLive))
        child.update(from: record)
        child.place = rows.places[record.unit]
        all.append(child)
      }
    }
    for index in file?.order ?? [] {
      guard let file else { break }
      let step = file.steps[index]
      let (needs, after) = file.beginningDependencies(of: step)
      add(step.name, needs: needs, after: after)
    }
    // The row of the parent is not read with a child that is read alone.
    for name in Set(records.keys).union(children.keys).subtracting(names).sorted() {
      add(name, needs: [], after: [])
    }
    if let problem { notes.append("\(problem) The graph is not known.") }
    if rows.steps.isEmpty, rows.children.isEmpty, run.state != .running {
      notes.append("The steps of this run are not kept any more: see `keep` of the flow file.")
    }
    if let file, Self.hasChanged(file, since: rows.began) {
      notes.append(
        "The flow file has changed since the run began. The graph shows it as it is now.")
    }
  }

  /// Returns these steps without all but one; nil if it is not among them.
  func only(_ name: String) -> FlowRunSteps? {
    var copy = self
    copy.all = all.filter { $0.name == name }
    copy.omittedChildren = 0
    return copy.all.isEmpty ? nil : copy
  }

  private static func hasChanged(_ file: FlowFile, since began: Int64) -> Bool {
    guard
      let date = try? URL(fileURLWithPath: file.path).resourceValues(
        forKeys: [.contentModificationDateKey]
      ).contentModificationDate
    else { return false }
    return date > Date(milliseconds: began)
  }

  /// The names of the steps that options select; nil for all.
  private static func selection(_ text: String?, in file: FlowFile) -> Set<String>? {
    text.flatMap { try? FlowSelection(text: $0).steps(of: file) }
  }
}

extension FlowStepView {
  fileprivate mutating func update(from record: FlowStepRecord) {
    reason = record.reason
    attempts = record.attempts
    childCount = record.children
    began = record.began.map { Date(milliseconds: $0) }
    ended = record.ended.map { Date(milliseconds: $0) }
  }
}
