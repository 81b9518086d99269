import DurableOperations
import FlowFiles
import Foundation
import SystemSupport

/// The part of the page of a run that shows the steps of a flow file: which ones need attention, the
/// graph, and a list with the ends of the logs.
struct FlowRunView {
  /// The number of steps and children that the list shows.
  private static let mostRows = 200
  /// The number of logs whose ends are in the page.
  private static let mostLogs = 30

  private let run: RunID
  let steps: FlowRunSteps
  private let selected: String?
  private let now: Date
  /// The rows of the list.
  private let rows: [FlowStepView]
  /// The names of the steps whose logs are in the page.
  private let logged: Set<String>

  /// - Parameter selected: The step or the child that the address names.
  init(_ steps: FlowRunSteps, of run: RunID, selected: String?, at now: Date) {
    self.run = run
    self.steps = steps
    self.selected = selected
    self.now = now
    rows = Self.urgent(steps.all, Self.mostRows, selected)
    logged = Set(
      Self.urgent(rows.filter { $0.childCount == nil }, Self.mostLogs, selected).map(\.name))
  }

  /// The steps that need attention most, in their own order.
  private static func urgent(
    _ steps: [FlowStepView], _ limit: Int, _ selected: String?
  ) -> [FlowStepView] {
    if steps.count <= limit { return steps }
    func isFirst(_ one: Int, _ other: Int) -> Bool {
      let (a, b) = (steps[one], steps[other])
      if (a.name == selected) != (b.name == selected) { return a.name == selected }
      return (a.state, one) < (b.state, other)
    }
    return steps.indices.sorted(by: isFirst).prefix(limit).sorted().map { steps[$0] }
  }

  var html: HTML {
    """
    <h2>Steps of \(short: steps.flow)</h2>
    \(summary)\(cause)\(notes)\(graph)\(list)
    """
  }

  // MARK: Steps that need attention

  private var summary: HTML {
    let states = Dictionary(grouping: steps.steps, by: \.state)
    let counts = FlowStepView.State.allCases.compactMap { state in
      states[state].map { steps -> HTML in "\(badge(state, "\(steps.count.grouped) "))" }
    }
    var lines: [HTML] = ["<p>\(counts.joined(by: " · "))</p>\n"]
    for state in [FlowStepView.State.failed, .interrupted, .running] {
      // The children that have failed, and not only their step.
      let found = rows.filter { $0.state == state && $0.childCount == nil }
      if found.isEmpty { continue }
      let links = found.prefix(5).map { step -> HTML in
        let detail: HTML? =
          if let detail = step.detail { "\(short: detail, limit: 200)" } else if state == .running {
            step.time(at: now)
          } else { nil }
        return "<a href=\"\(attribute: link(step))\">\(short: step.name, limit: 60)</a>"
          + (detail.map { " (\($0))" } ?? "")
      }
      let more: HTML = found.count > 5 ? ", …" : ""
      lines.append("<p>\(badge(state, "")): \(links.joined(by: ", "))\(more)</p>\n")
    }
    return lines.joined()
  }

  /// The log of the first step that has failed, from the line that looks like the error.
  private var cause: HTML {
    guard let step = rows.first(where: { $0.state == .failed && $0.childCount == nil }),
      let (file, size) = try? steps.logs.open(step.name)
    else { return "" }
    defer { try? file.close() }
    guard let error = try? FlowLogError(of: file, size: size) else { return "" }
    return """
      <p>Log of <a href="\(attribute: link(step))">\(short: step.name, limit: 60)</a> from the first line \
      that looks like the error:</p>
      <pre id="error-\(attribute: step.id)">\(error.text)</pre>

      """
  }

  private var notes: HTML {
    let selection = steps.selection.map { ["The run has the option \($0)."] } ?? []
    return (selection + steps.notes).map { note -> HTML in
      "<p class=\"faint\">\(short: note, limit: 2_000)</p>\n"
    }.joined()
  }

  private func badge(_ state: FlowStepView.State, _ number: String) -> HTML {
    """
    <span class="\(attribute: state.style) step-state"><span aria-hidden="true">\(state.sign)</span> \
    \(number)\(state.rawValue)</span>
    """
  }

  // MARK: Graph

  private var graph: HTML {
    let all = steps.steps
    if all.count < 2 || all.allSatisfy({ $0.needs.isEmpty && $0.after.isEmpty }) { return "" }
    let shown = Self.urgent(all, FlowGraphPicture.mostSteps, selected)
    let picture = FlowGraphPicture(steps: shown, link: link, now: now)
    let names = Set(shown.map(\.name))
    let hasDashed = shown.contains { !names.isDisjoint(with: $0.after) }
    return """
      <div class="scroll graph" id="graph" role="region" aria-label="Graph of the steps" tabindex="0">
      \(picture.html)</div>
      <p class="faint">\(hasDashed ? Self.legend : "")The list has the same as text.\
      \(omitted(all.count - shown.count, "The graph", "step"))</p>

      """
  }

  private static let legend: HTML =
    "A dashed line leads to a step that runs after the end of another one, whatever its outcome. "

  private func omitted(_ count: Int, _ subject: String, _ noun: String) -> HTML {
    if count == 0 { return "" }
    return """
       \(subject) omits \(count.counted(noun)): it shows those first that have failed, then those that \
      run, were cancelled, wait, and have succeeded.
      """
  }

  // MARK: List

  private var list: HTML {
    let count = steps.all.count - rows.count + steps.omittedChildren
    let omission: HTML =
      count == 0 ? "" : "<p class=\"faint\">\(omitted(count, "The list", "other"))</p>\n"
    return """
      <div class="scroll" id="flow-steps"><table class="wide steps">
      <thead><tr><th scope="col">Step</th><th scope="col">State</th>
      <th scope="col" class="number">Time</th><th scope="col" class="number">Attempts</th>
      <th scope="col">Needs</th></tr></thead>
      <tbody>
      \(rows.map { row($0) }.joined())</tbody></table></div>
      \(omission)
      """
  }

  private func row(_ step: FlowStepView) -> HTML {
    let needs = step.needs.prefix(20) + (step.needs.count > 20 ? ["…"] : [])
    let after = step.after.isEmpty ? [] : ["after " + step.after.prefix(20).joined(separator: ", ")]
    let attempts = step.attempts.map { $0 > 0 ? "\($0)" : "" } ?? ""
    let detail = step.detail.map { ": " + $0 } ?? ""
    let kind: HTML = step.parent == nil ? "" : " child"
    return """
      <tr id="step-\(attribute: step.id)"><td class="run\(kind)">\(short: step.name)</td>
      <td data-label="State">\(badge(step.state, ""))\(short: detail)</td>
      <td class="number" data-label="Time">\(step.time(at: now) ?? "")</td>
      <td class="number" data-label="Attempts">\(attempts)</td>
      <td data-label="Needs">\(short: (needs + after).joined(separator: ", "))</td></tr>
      \(log(step))
      """
  }

  // MARK: Logs

  /// The address of a step in the page that shows the end of its log.
  private func link(_ step: FlowStepView) -> String {
    let isListed = rows.contains { $0.name == step.name }
    if logged.contains(step.name) || step.childCount != nil && isListed {
      return "#step-\(step.id)"
    }
    return run.path(to: nil, [("step", step.name)]) + "#step-\(step.id)"
  }

  private func log(_ step: FlowStepView) -> HTML {
    if step.childCount != nil { return "" }
    let content: HTML
    do throws(FlowRunLogs.Problem) {
      content = try logged.contains(step.name) ? shownLog(step) : linkedLog(step)
    } catch {
      if let place = step.place {
        content = """
          <p>The command runs on a worker of \(short: place). Its output is added to the log when it \
          has ended.</p>
          """
      } else if case .noLog = error, step.state != .running, step.state != .failed {
        return ""
      } else if case .noFolder = error {
        content = "<p>\(short: "\(error)"): \(short: steps.logs.path(of: step.name))</p>"
      } else {
        content = "<p>\(short: "\(error)")</p>"
      }
    }
    return """
      <tr class="log" data-key="logs-\(attribute: step.id)"><td colspan="5">\(content)</td></tr>

      """
  }

  private func linkedLog(_ step: FlowStepView) throws(FlowRunLogs.Problem) -> HTML {
    let size = try steps.logs.size(of: step.name)
    return "<p><a href=\"\(attribute: link(step))\">Log: \(size.counted("byte"))</a></p>"
  }

  private func shownLog(_ step: FlowStepView) throws(FlowRunLogs.Problem) -> HTML {
    let (file, size) = try steps.logs.open(step.name)
    defer { try? file.close() }
    let end: FlowLogEnd
    do throws(SystemError) { end = try FlowLogEnd(of: file, size: size) } catch {
      throw .other(error)
    }
    let isOpen = step.state <= .running || step.name == selected
    let rest: HTML =
      step.place == nil
      ? "" : "<p>The command runs on a worker; its output is added when it has ended.</p>\n"
    let whole = run.path(to: "log", [("step", step.name)])
    let text: HTML =
      end.size == 0
      ? "<p class=\"faint\">It is empty.</p>"
      : """
      <pre id="end-\(attribute: step.id)" data-follow>\
      \(end.isPartial ? "…\n" : "")\(end.text)</pre>
      <p><a href="\(attribute: whole)">All \(end.size.counted("byte"))</a></p>
      """
    return """
      <details id="log-\(attribute: step.id)"\(isOpen ? " open data-open" : "")>\
      <summary>\(end.isPartial ? "End of the log" : "Log") of \(short: step.name, limit: 60)</summary>
      \(text)\(rest)</details>
      """
  }

  // MARK: JSON

  func write(to json: inout JSONWriter) {
    json.name("flowFile")
    json.object { json in
      json.member("flow", steps.flow)
      json.member("file", steps.file)
      if let selection = steps.selection { json.member("selection", selection) }
      json.member("notes", steps.notes)
      json.member("omittedChildren", steps.omittedChildren)
      json.name("steps")
      json.array { json in
        for step in steps.all { json.object { write(step, to: &$0) } }
      }
    }
  }

  private func write(_ step: FlowStepView, to json: inout JSONWriter) {
    json.member("name", step.name)
    if let parent = step.parent { json.member("parent", parent) }
    json.member("state", step.state.rawValue)
    if let reason = step.reason { json.member("reason", reason) }
    if step.parent == nil {
      json.member("needs", step.needs)
      json.member("after", step.after)
    }
    if let attempts = step.attempts { json.member("attempts", attempts) }
    if let began = step.began { json.member("began", began.iso8601) }
    if let ended = step.ended { json.member("ended", ended.iso8601) }
    if let count = step.childCount {
      json.member("children", count)
      json.name("childrenByState")
      json.object { json in
        for (state, count) in step.children.sorted(by: { $0.key < $1.key }) {
          json.member(state.rawValue, count)
        }
      }
      return
    }
    if let place = step.place { json.member("outputIsOnWorkerOf", place) }
    json.name("log")
    json.object { json in
      json.member("path", steps.logs.path(of: step.name))
      do throws(FlowRunLogs.Problem) {
        json.member("size", try steps.logs.size(of: step.name))
      } catch { json.member("problem", "\(error)") }
    }
  }
}
