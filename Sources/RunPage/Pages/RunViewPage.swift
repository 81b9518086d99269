import DurableOperations
import FlowFiles
import Foundation
import SystemSupport

/// A run with its steps.
struct RunViewPage {
  /// The number of steps on a page.
  static let pageSize = 100
  /// The number of bytes of a value that the page shows.
  private static let shownBytes = 2_000
  /// The number of events that the page shows.
  static let shownEvents = 100

  let details: RunDetails
  /// The first step that is not shown, from the end; nil for the last steps.
  let before: Int?
  /// The newest child flows.
  let children: [RunSummary]
  /// The numbers of all child flows, if there may be others.
  let counts: [RunCount]
  /// The newest events that were sent to the run, and one more if there are others.
  let events: [StoredEvent]
  /// The actions of persons on the run, the newest first.
  let recorded: [RecordedAction]
  /// The steps of a run of a flow file; nil for another run.
  let flow: FlowRunView?
  /// The command that continues a run of a flow file; nil if there is none.
  let command: String?
  /// The secret of the forms.
  let secret: String
  /// Why there are no actions; nil if there are.
  let problemOfActions: String?
  let now: Date

  private var run: RunSummary { details.summary }
  private var finished: [RunDetails.Step] { details.steps.filter { $0.key.isEmpty } }
  private var keys: [RunDetails.Step] { details.steps.filter { !$0.key.isEmpty } }

  var layout: PageLayout {
    PageLayout(
      title: "\(run.id.text) – \(run.state.rawValue)",
      heading: """
        <h1><a href="/">Runs</a> / \(run.id.text)</h1>
        """,
      main: facts + actions + failure + parts + history)
  }

  private var parts: HTML {
    guard let flow else { return stepTable + inProgress + sentEvents + timeline + sequence }
    // The details contain the same steps under their internal names.
    return flow.html + timeline + """
      <details id="stored"><summary>The steps and the state as the journal has them</summary>
      \(stepTable)\(inProgress)\(sentEvents)\(sequence)</details>

      """
  }

  // MARK: Facts

  private var facts: HTML {
    var rows: [(String, HTML)] = [
      ("State", "\(run.state.badge)\(run.detail)"),
      ("Flow", "\(short: flow?.steps.flow ?? run.flow)"), ("Began", run.began.age(at: now)),
      ("Changed", run.updated.age(at: now)),
    ]
    if run.state == .running || run.state.hasEnded {
      rows.append(("Duration", run.duration(at: now)))
    }
    if flow == nil { rows.append(("Finished steps", "\(run.step)")) }
    if run.attempt > 1 { rows.append(("Attempt", "\(run.attempt)")) }
    if !run.workerText.isEmpty { rows.append(("Worker", "\(short: run.workerText)")) }
    if run.state == .error, let step = finished.last, step.kind == .error {
      rows.append(("Failed step", "\(short: step.name) (\(step.position))"))
    }
    if flow == nil, let step = details.currentStep {
      rows.append(("Step in progress", doing(step)))
      if let text = step.attemptText {
        let state: HTML = "<span class=\"state retrying\">\(text)</span>"
        let next: HTML =
          step.nextAttempt.map { " failed, the next one \($0.countdown(at: now))" } ?? " runs"
        rows.append(("Retries", step.lastError == nil ? state : state + next))
      }
      if let error = step.lastError { rows.append(("Last error", "\(short: error)")) }
    }
    if let parent = run.parent { rows.append(("Parent", parent.link)) }
    if !children.isEmpty { rows.append(("Child flows", childFlows)) }
    let terms = rows.map { name, value -> HTML in "<dt>\(name)</dt><dd>\(value)</dd>\n" }
    return "<dl>\n\(terms.joined())</dl>\n"
  }

  private func doing(_ step: CurrentStep) -> HTML {
    guard run.state == .running, let began = step.began else { return "\(short: step.name)" }
    return "\(short: step.name) <span class=\"faint\">for</span> \(began.duration(at: now))"
  }

  /// The child flows; of many, the number in each state with a link to their list.
  private var childFlows: HTML {
    let total = counts.reduce(0) { $0 + $1.count }
    if total <= children.count {
      return children.map { "\($0.id.link) \($0.state.badge)" as HTML }.joined(by: "<br>")
    }
    let query = RunQuery(childrenOf: run.id)
    let states = RunState.allCases.compactMap { state -> HTML? in
      let count = counts.lazy.filter { $0.state == state }.reduce(0) { $0 + $1.count }
      if count == 0 { return nil }
      return "<a href=\"\(attribute: query.path(of: state))\">\(count) \(state.badge)</a>"
    }
    return """
      <a href="\(attribute: query.path(of: nil))">\(total) child flows</a>: \(states.joined(by: ", "))
      """
  }

  // MARK: Actions

  private var actions: HTML {
    if let problem = problemOfActions {
      return "<p class=\"faint\">The page is read-only: \(problem).</p>\n"
    }
    var forms: [HTML] = []
    func form(_ action: String, _ title: String, _ fields: HTML, _ button: String) -> HTML {
      """
      <details id="\(HTML(stringLiteral: action))"><summary>\(title)…</summary>
      <form method="post" action="\(attribute: run.id.path(to: action))">
      <input type="hidden" name="form-secret" value="\(attribute: secret)">\(fields)
      <button>\(button)</button></form></details>

      """
    }
    // Only `coop flow run` continues a run of a flow file, and its steps wait for no events.
    let isFlowFile = flow != nil
    if RunAction.cancel.applies(to: run.state), !(isFlowFile && run.ownerHasEnded) {
      forms.append(
        form(
          "cancel", "Cancel",
          """
          <label for="reason">Reason<input id="reason" name="reason"></label>
          """, "Cancel the run and its child flows"))
    }
    if RunAction.send.applies(to: run.state), !isFlowFile {
      forms.append(
        form(
          "send", "Send an event",
          """
          <label for="event">Event<input id="event" name="event" required
          value="\(attribute: run.event ?? "")"></label>
          <label for="payload">Value as JSON<textarea id="payload" name="payload" rows="3"
          required>null</textarea></label>
          """, "Send the event"))
    }
    if RunAction.retry.applies(to: run.state), !isFlowFile {
      forms.append(
        form(
          "retry", "Retry",
          """
          <label for="step">First step to repeat (empty: the last one if it failed)
          <input id="step" name="step" inputmode="numeric" pattern="[0-9]*"></label>
          """, "Retry the run"))
    }
    if RunAction.forget.applies(to: run.state), !isFlowFile {
      forms.append(form("forget", "Forget", "", "Delete the run, its steps and its child flows"))
    }
    return "<div class=\"actions\">\n\(forms.joined())</div>\n\(continuation)"
  }

  private var continuation: HTML {
    command.map { "<p>To continue the run: <code>\(short: $0, limit: 2_000)</code></p>\n" } ?? ""
  }

  // MARK: Outcome

  private var failure: HTML {
    guard let outcome = details.outcome, run.state.hasEnded else { return "" }
    let title: HTML = run.state == .result ? "Result" : "Error"
    return "<h2>\(title)</h2>\n"
      + value(RunError(outcome)?.text ?? outcome, id: "outcome", run.id.path(to: "outcome"))
  }

  // MARK: Steps

  /// The steps of the page, the last ones first.
  private var shown: ArraySlice<RunDetails.Step> {
    finished.prefix { $0.position < before ?? .max }.suffix(Self.pageSize)
  }

  private var stepTable: HTML {
    let shown = shown
    if shown.isEmpty { return "<h2>Steps</h2>\n<p class=\"faint\">No finished step is kept.</p>\n" }
    let rows = zip(shown.indices, shown).reversed().map { index, step in
      row(step, since: index > finished.startIndex ? lastState(before: index) : nil)
    }
    var links: [HTML] = []
    if before != nil { links.append("<a href=\"\(attribute: run.id.path)\">Last steps</a>") }
    if let first = shown.first, first.position > (finished.first?.position ?? 0) {
      links.append(
        """
        <a href="\(attribute: run.id.path(to: nil, [("before", "\(first.position)")]))">\
        Earlier steps</a>
        """)
    }
    let pages: HTML =
      links.isEmpty ? "" : "<nav aria-label=\"Steps\"><p>\(links.joined(by: " · "))</p></nav>\n"
    return """
      <h2>Steps</h2>
      <div class="scroll" data-key="rows"><table class="wide">
      <thead><tr><th scope="col" class="number">#</th><th scope="col">Step</th>
      <th scope="col">Outcome</th><th scope="col" class="number">Time</th>
      <th scope="col" class="number">Attempts</th><th scope="col">Worker</th>
      <th scope="col">Value and state</th></tr></thead>
      <tbody>
      \(rows.joined())</tbody></table></div>
      \(pages)
      """
  }

  /// The state before a step, if it is known.
  private func lastState(before index: Int) -> String? {
    finished[..<index].last { $0.state != nil }?.state
  }

  private func row(_ step: RunDetails.Step, since before: String?) -> HTML {
    """
    <tr data-key="\(step.position)">
    <td class="number" data-label="#">\(step.position)</td><td class="run">\(short: step.name)</td>
    <td data-label="Outcome">\(step.outcomeBadge)</td>
    <td class="number" data-label="Time">\(step.time)</td>
    <td class="number" data-label="Attempts">\(step.attempts)</td>
    <td data-label="Worker">\(short: step.worker ?? "")</td>
    <td>\(values(step))\(changes(step, since: before))</td></tr>

    """
  }

  private func values(_ step: RunDetails.Step) -> HTML {
    guard let value = step.value else { return "" }
    let text = step.kind == .error ? RunError(value)?.text ?? value : value
    return folded(
      text, id: "value-\(step.position)", run.id.path(to: "value", position(step)))
  }

  /// A value that is folded if it is long.
  private func folded(_ text: String, id: String, _ path: String) -> HTML {
    // Short values need no click.
    if text.utf8.count <= 60, !text.contains("\n") { return "<code>\(text)</code>" }
    return """
      <details id="\(HTML(stringLiteral: id))"><summary>\(short: text, limit: 60)</summary>
      \(value(text, id: id + "-text", path))</details>
      """
  }

  private func changes(_ step: RunDetails.Step, since before: String?) -> HTML {
    guard let state = step.state else { return "" }
    let difference = JSONDifference(from: before, to: state)
    let lines = difference.changes.map { change -> HTML in
      let path = change.path.isEmpty ? "state" : change.path
      return """
        <li><code>\(short: path)</code>: \(short(change.before)) → \(short(change.after))</li>

        """
    }
    let rest: HTML = difference.isPartial ? "<li>…</li>" : ""
    let more = difference.isPartial ? "more than " : ""
    // A large state is not compared.
    let isCompared = before != nil && !(difference.isPartial && lines.isEmpty)
    let count = isCompared ? ": \(more)\(lines.count.counted("change"))" : ""
    return """
      <details id="state-\(step.position)"><summary>State\(count)</summary>
      <ul>\(lines.joined())\(rest)</ul>
      \(value(state, id: "state-\(step.position)-text", run.id.path(to: "state", position(step))))
      </details>
      """
  }

  private func short(_ text: String?) -> HTML {
    guard let text else { return "<span class=\"faint\">nothing</span>" }
    return "<code>\(short: text, limit: 120)</code>"
  }

  // MARK: The step in progress

  private var inProgress: HTML {
    // The steps of a flow file have the same.
    if run.state.hasEnded || keys.isEmpty || flow != nil { return "" }
    let rows = keys.suffix(Self.pageSize).map { key -> HTML in
      """
      <tr><td class="run">\(short: key.key)</td><td>\(key.outcomeBadge)</td>
      <td class="number">\(key.time)</td><td>\(short(key.value))</td></tr>

      """
    }
    return """
      <h2>Step in progress: \(short: keys[0].name)</h2>
      <div class="scroll"><table><thead><tr><th scope="col">Part</th><th scope="col">Outcome</th>
      <th scope="col" class="number">Time</th><th scope="col">Value</th></tr></thead><tbody>
      \(rows.joined())</tbody></table></div>

      """
  }

  // MARK: Events

  private var sentEvents: HTML {
    if events.isEmpty { return "" }
    let rows = events.prefix(Self.shownEvents).map { event -> HTML in
      // Without characters that an attribute could not contain.
      let key = "event-" + event.name.encodedForQuery
      let path = run.id.path(to: "value", [("event", event.name)])
      return """
        <tr data-key="\(attribute: key)"><td class="run">\(short: event.name)</td>
        <td data-label="Sent">\(Date(milliseconds: event.sent).age(at: now))</td>
        <td>\(folded(event.payload, id: key, path))</td></tr>

        """
    }
    let rest: HTML =
      events.count > Self.shownEvents
      ? "<p class=\"faint\">The page shows the last \(Self.shownEvents) events.</p>\n" : ""
    return """
      <h2>Events</h2>
      <div class="scroll" data-key="events"><table class="wide">
      <thead><tr><th scope="col">Event</th><th scope="col">Sent</th><th scope="col">Value</th></tr>
      </thead><tbody>
      \(rows.joined())</tbody></table></div>
      \(rest)
      """
  }

  // MARK: Actions of persons

  private var history: HTML {
    if recorded.isEmpty { return "" }
    let rows = recorded.enumerated().map { index, action -> HTML in
      """
      <tr data-key="action-\(recorded.count - index)"><td class="run">\(short: action.action)</td>
      <td data-label="By">\(short: action.actor)</td>
      <td data-label="When">\(Date(milliseconds: action.began).age(at: now))</td>
      <td data-label="With">\(short: action.detail ?? "")</td>
      <td data-label="Result">\(short: action.result)</td></tr>

      """
    }
    return """
      <h2>Actions</h2>
      <div class="scroll" data-key="actions"><table class="wide">
      <thead><tr><th scope="col">Action</th><th scope="col">By</th><th scope="col">When</th>
      <th scope="col">With</th><th scope="col">Result</th></tr></thead><tbody>
      \(rows.joined())</tbody></table></div>

      """
  }

  private var timeline: HTML {
    let contents: HTML
    if let flow {
      if flow.steps.lastChange == nil { return "" }
      contents = "the steps that have begun"
    } else {
      contents = "the last steps and of the child flows"
    }
    var changed = max(run.updated, flow?.steps.lastChange ?? run.updated)
    if flow != nil, run.state == .running {
      // The bars of the steps that run become longer. At most one picture a second.
      changed = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down))
    }
    let stamp = "\(Int64(changed.timeIntervalSince1970 * 1_000))"
    return """
      <h2>Timeline</h2>
      <p class="timeline"><img src="\(attribute: run.id.path(to: "timeline.svg", [("at", stamp)]))" \
      alt="Timeline of \(contents)"></p>

      """
  }

  private var sequence: HTML {
    "<h2>State of the sequence</h2>\n"
      + value(details.sequence, id: "sequence", run.id.path(to: "state"))
  }

  // MARK: Values

  private func position(_ step: RunDetails.Step) -> [(String, String)] {
    [("position", "\(step.position)")]
  }

  /// A value with a button that copies it. A long one is cut, with a link to all of it.
  private func value(_ text: String, id: String, _ path: String) -> HTML {
    let size = text.utf8.count
    if size > Self.shownBytes {
      let start = String(decoding: text.utf8.prefix(Self.shownBytes), as: UTF8.self)
      return """
        <pre id="\(HTML(stringLiteral: id))">\(start)…</pre>
        <p><a href="\(attribute: path)">All \(size.counted("byte"))</a></p>

        """
    }
    return """
      <pre id="\(HTML(stringLiteral: id))">\(text)</pre>
      <button type="button" data-copy="\(HTML(stringLiteral: id))">Copy</button>

      """
  }
}

extension RunDetails.Step {
  fileprivate var outcomeBadge: HTML {
    let name = HTML(stringLiteral: kind.rawValue)
    return "<span class=\"state \(name)\">\(name)</span>"
  }
}
