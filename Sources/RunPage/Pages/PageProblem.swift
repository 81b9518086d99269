import CompositeOperations
import DurableOperations
import SQLiteSupport
import SystemSupport

/// A problem of a request, as its answer states it.
struct PageProblem: Error, CustomStringConvertible {
  /// The kind of a problem, with its HTTP status.
  enum Kind: Int {
    case badRequest = 400
    case forbidden = 403
    case notFound = 404
    case conflict = 409
    case failed = 500
    case unavailable = 503
  }

  let kind: Kind
  let text: String
  /// The run of a refused or failed action, as it is after it.
  var run: RunSummary?

  init(_ kind: Kind, _ text: String) { (self.kind, self.text) = (kind, text) }

  /// The problem of an error of a store.
  init(_ error: any Error) {
    switch error {
    case let problem as PageProblem: self = problem
    case let error as RunStoreError where error.isTemporary:
      self.init(.unavailable, "\(error)")
    case let error as SQLiteError where error.kind == .busy:
      self.init(.unavailable, "\(error)")
    default: self.init(.failed, "\(error)")
    }
  }

  var status: Int { kind.rawValue }
  var description: String { text }

  private var title: String {
    switch kind {
    case .badRequest: "Invalid request"
    case .forbidden: "Not allowed"
    case .notFound: "Not found"
    case .conflict: "Refused"
    case .failed: "Failed"
    case .unavailable: "Unavailable"
    }
  }

  func layout(isLive: Bool) -> PageLayout {
    PageLayout(
      title: "\(title) – Runs", heading: "<h1><a href=\"/\">Runs</a></h1>", problem: text,
      isLive: isLive,
      main: state + "<p><a href=\"/\">All runs</a></p>")
  }

  private var state: HTML {
    guard let run else { return "" }
    return "<p>The run \(run.id.link) is now \(run.state.badge)\(run.detail)</p>\n"
  }

  var json: [UInt8] {
    var json = JSONWriter()
    json.object { $0.member("error", text) }
    return json.bytes + [UInt8(ascii: "\n")]
  }
}
