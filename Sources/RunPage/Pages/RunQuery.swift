import DurableOperations
import Foundation

/// The runs that a page of the list shows, as its address contains them.
struct RunQuery: Sendable {
  /// The number of runs on a page.
  static let pageSize = 100

  var state: RunState?
  var flow: String?
  /// A part of the names.
  var text: String?
  /// The run that started the runs as child flows.
  var parent: RunID?
  /// The last run of the page before.
  var after: (began: Int64, id: RunID)?

  init() {}

  /// The child flows of a run.
  init(childrenOf parent: RunID) { self.parent = parent }

  /// - Throws: A ``PageProblem`` for an unknown item or value.
  init(_ items: [(name: String, value: String)]) throws(PageProblem) {
    for (name, value) in items where !value.isEmpty {
      switch name {
      case "state":
        guard let state = RunState(rawValue: value) else {
          let expected = RunState.allCases.map(\.rawValue).joined(separator: ", ")
          throw PageProblem(.badRequest, "unknown state \(value.quoted); expected \(expected)")
        }
        self.state = state
      case "flow": flow = value
      case "text": text = value
      case "parent": parent = RunID(value)
      case "after":
        let parts = value.split(separator: " ", maxSplits: 1)
        // Until the year 9999: a database has no times of any size.
        guard parts.count == 2, let began = Int64(parts[0]),
          (0..<253_402_300_800_000).contains(began)
        else {
          throw PageProblem(
            .badRequest,
            "invalid after \(value.quoted); expected the value of `next` of the page before")
        }
        after = (began, RunID(String(parts[1])))
      default:
        throw PageProblem(
          .badRequest,
          "unknown parameter \(name.quoted); expected state, flow, text, parent or after")
      }
    }
  }

  /// One more run shows whether there is a next page.
  var selection: RunSelection {
    RunSelection(
      flows: flow.map { [$0] } ?? [], states: state.map { [$0] } ?? [], text: text, parent: parent,
      limit: Self.pageSize + 1, after: after)
  }

  /// The runs that are counted, in all states and of all flows.
  var counted: RunSelection { counted(in: nil, of: nil) }

  /// The runs of all pages, in a state and of a flow; nil for all.
  func counted(in state: RunState?, of flow: String?) -> RunSelection {
    RunSelection(
      flows: flow.map { [$0] } ?? [], states: state.map { [$0] } ?? [], text: text, parent: parent)
  }

  /// Whether the list does not have all runs.
  var isFiltered: Bool { state != nil || flow != nil || text != nil || parent != nil }

  /// The value of `after` for the page after a run.
  static func cursor(after run: RunSummary) -> String {
    "\(Int64((run.began.timeIntervalSince1970 * 1_000).rounded())) \(run.id.text)"
  }

  /// The address of the first page with another state.
  func path(of state: RunState?) -> String {
    var query = self
    (query.state, query.after) = (state, nil)
    return query.path(after: nil)
  }

  /// The address of the page after a run; the first page without one.
  func path(after run: RunSummary?) -> String {
    "/" + parameters(after: run)
  }

  /// The parameters of the page after a run, with their question mark; of the first page without one.
  func parameters(after run: RunSummary? = nil) -> String {
    var items: [(String, String)] = []
    if let state { items.append(("state", state.rawValue)) }
    if let flow { items.append(("flow", flow)) }
    if let text { items.append(("text", text)) }
    if let parent { items.append(("parent", parent.text)) }
    if let run { items.append(("after", Self.cursor(after: run))) }
    if items.isEmpty { return "" }
    return "?" + items.map { "\($0)=\($1.encodedForQuery)" }.joined(separator: "&")
  }
}
