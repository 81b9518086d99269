import DurableOperations
import FlowFiles
import Foundation
import SystemSupport

/// The list of runs.
struct RunListPage {
  let place: String
  let query: RunQuery
  private let runs: [RunSummary]
  private let counts: [RunCount]
  private let hasMore: Bool
  private let progress: [RunID: FlowProgress]
  private let now: Date
  /// The secret of the forms; nil on a page that is read-only.
  private let secret: String?

  /// - Parameters:
  ///   - runs: The runs of ``RunQuery/selection``.
  ///   - counts: The numbers of the runs of ``RunQuery/counted``.
  ///   - progress: The progress of those that are runs of flow files.
  ///   - secret: The secret of the forms; nil on a page that is read-only.
  init(
    of query: RunQuery, in place: String, _ runs: [RunSummary], _ counts: [RunCount],
    _ progress: [RunID: FlowProgress], secret: String?, at now: Date
  ) {
    self.secret = secret
    (self.query, self.place, self.counts, self.now) = (query, place, counts, now)
    self.progress = progress
    self.runs = Array(runs.prefix(RunQuery.pageSize))
    hasMore = runs.count > RunQuery.pageSize
  }

  var layout: PageLayout {
    PageLayout(
      title: "Runs – \(place)",
      heading: "<h1><a href=\"/\">Runs</a></h1><span class=\"faint\">\(place)</span>",
      main: parent + states + filter + forms + table + pages)
  }

  private var parent: HTML { query.parent.map { "<p>Child flows of \($0.link)</p>\n" } ?? "" }

  /// The number of runs in a state, of the flow of the query; of all states for nil.
  private func count(of state: RunState?) -> Int {
    counts.lazy.filter { count in
      (state ?? count.state) == count.state && (query.flow ?? count.flow) == count.flow
    }.reduce(0) { $0 + $1.count }
  }

  private var states: HTML {
    let links = ([nil] + RunState.allCases.map { $0 }).map { state -> HTML in
      let current: HTML = query.state == state ? " aria-current=\"page\"" : ""
      let name: HTML = state?.badge ?? "all"
      return """
        <a href="\(attribute: query.path(of: state))"\(current)>\(name) \(count(of: state))</a>

        """
    }
    return "<nav class=\"states\" aria-label=\"States\">\n\(links.joined())</nav>\n"
  }

  private var filter: HTML {
    let flows = Set(counts.map(\.flow)).union(query.flow.map { [$0] } ?? []).sorted()
    let options = flows.map { flow -> HTML in
      let selected: HTML = flow == query.flow ? " selected" : ""
      // The name of their flow is internal; the rows have the names of the files' flows.
      let name = flow == FlowRunBackend.flowName ? "flow files" : flow
      return "<option value=\"\(attribute: flow)\"\(selected)>\(short: name)</option>"
    }
    let others = [("state", query.state?.rawValue), ("parent", query.parent?.text)]
    let hidden = others.map { name, value -> HTML in
      guard let value else { return "" }
      let name = HTML(stringLiteral: name)
      return "<input type=\"hidden\" name=\"\(name)\" value=\"\(attribute: value)\">"
    }
    return """
      <form class="filter" method="get" action="/" role="search">\(hidden.joined())
      <label for="flow">Flow<select id="flow" name="flow">
      <option value="">all</option>\(options.joined())</select></label>
      <label for="text">Text of the name (/)<input id="text" name="text" type="search"
      value="\(attribute: query.text ?? "")"></label>
      <button>Filter</button>
      </form>

      """
  }

  /// The actions on all runs of a filtered list, each with their number.
  private var forms: HTML {
    guard let secret, query.isFiltered else { return "" }
    let forms = RunAction.ofLists.compactMap { action -> HTML? in
      let states = query.state.map { [$0] } ?? action.states
      let number = counts.lazy.filter { count in
        // Only `coop flow run` continues runs of flow files.
        states.contains(count.state) && (query.flow ?? count.flow) == count.flow
          && (action == .cancel || count.flow != FlowRunBackend.flowName)
      }.reduce(0) { $0 + $1.count }
      guard number > 0, query.state.map(action.applies) ?? true else { return nil }
      let name = HTML(stringLiteral: action.rawValue)
      let title = HTML(stringLiteral: action.rawValue.capitalized)
      let reason: HTML =
        action == .cancel
        ? "<label for=\"reason\">Reason<input id=\"reason\" name=\"reason\"></label>" : ""
      return """
        <details id="\(name)"><summary>\(title) \(number.counted("run"))…</summary>
        <form method="post" action="\(attribute: "/runs/\(action.rawValue)\(query.parameters())")">
        <input type="hidden" name="form-secret" value="\(attribute: secret)">\(reason)
        <label for="\(name)-number">The number of runs, to confirm<input id="\(name)-number" name="number"
        inputmode="numeric" pattern="[0-9]+" autocomplete="off" required></label>
        <button>\(title) all of these runs</button></form></details>

        """
    }
    return forms.isEmpty ? "" : "<div class=\"actions\">\n\(forms.joined())</div>\n"
  }

  private var table: HTML {
    if runs.isEmpty { return "<p class=\"faint\">No runs.</p>\n" }
    return """
      <div class="scroll" data-key="rows"><table class="wide">
      <thead><tr><th scope="col">Run</th><th scope="col">Flow</th><th scope="col">State</th>
      <th scope="col">Began</th><th scope="col" class="number">Duration</th>
      <th scope="col" class="number">Steps</th>
      <th scope="col" class="number">Attempt</th><th scope="col">Worker</th></tr></thead>
      <tbody>
      \(runs.map(row).joined())</tbody>
      </table></div>

      """
  }

  private func row(_ run: RunSummary) -> HTML {
    let flow = progress[run.id]
    return """
      <tr data-key="\(attribute: run.id.text)"><td class="run">\(run.id.link)</td>
      <td data-label="Flow">\(short: flow?.flow ?? run.flow)</td>
      <td data-label="State">\(run.state.badge)\(run.detail)</td>
      <td data-label="Began">\(run.began.age(at: now))</td>
      <td class="number" data-label="Duration">\(run.duration(at: now))</td>
      <td class="number" data-label="Steps">\(flow?.text ?? "\(run.step)")</td>
      <td class="number" data-label="Attempt">\(flow == nil ? "\(run.attempt)" : "")</td>
      <td data-label="Worker">\(short: run.workerText)</td></tr>

      """
  }

  private var pages: HTML {
    var links: [HTML] = []
    if query.after != nil {
      links.append("<a href=\"\(attribute: query.path(after: nil))\" rel=\"first\">Newest</a>")
    }
    if hasMore, let last = runs.last {
      links.append("<a href=\"\(attribute: query.path(after: last))\" rel=\"next\">Older</a>")
    }
    return links.isEmpty
      ? "" : "<nav aria-label=\"Pages\"><p>\(links.joined(by: " · "))</p></nav>\n"
  }

  var json: [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.name("runs")
      json.array { json in
        for run in runs {
          json.object { json in
            RunJSON.write(run, to: &json)
            progress[run.id]?.write(to: &json)
          }
        }
      }
      json.name("counts")
      json.object { json in
        for state in RunState.allCases { json.member(state.rawValue, count(of: state)) }
      }
      json.name("flows")
      json.array { json in for flow in Set(counts.map(\.flow)).sorted() { json.string(flow) } }
      json.name("next")
      if hasMore, let last = runs.last {
        json.string(RunQuery.cursor(after: last))
      } else {
        json.null()
      }
    }
    return json.bytes + [UInt8(ascii: "\n")]
  }
}

extension RunSummary {
  /// What the run waits for, or when and why it ended.
  var detail: HTML {
    let text = stateText.dropFirst(state.rawValue.count)
    let detail: HTML = text.isEmpty ? "" : "<span class=\"faint\">\(short: String(text))</span>"
    guard state == .error, let reason else { return detail }
    return detail + "<br><span class=\"reason\">\(short: reason, limit: 200)</span>"
  }

  /// How long it took, or has taken so far. Of a run that no process works on, it is not known when that has ended.
  func duration(at now: Date) -> HTML {
    if let ended {
      return
        "\(Duration.milliseconds(max(0, Int64(ended.timeIntervalSince(began) * 1_000))).readableTime)"
    }
    return state == .running ? began.duration(at: now) : ""
  }

  /// The process that runs it, or ran it last.
  var workerText: String {
    let isClaimed = state == .running || state == .interrupted
    return worker ?? (isClaimed ? owner.map { "process \($0)" } : nil) ?? ""
  }
}
