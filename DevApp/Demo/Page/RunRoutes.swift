#if canImport(HTTPServing)
  import CompositeOperations
  import DurableOperations
  import Foundation
  import HTTPServing
  import OperationTracing
  import SystemSupport

  /// The answers to the requests of the page of runs.
  ///
  /// Each address has a page and, for `Accept: application/json`, an object.
  struct RunRoutes: Sendable {
    private let served: ServedStore
    private let isReadOnly: Bool
    private let changes: StoreChanges
    private let counts = KnownCounts()
    /// The number of child flows that a page and a timeline show.
    private static let shownChildren = 20

    init(store: ServedStore, isReadOnly: Bool, changes: StoreChanges) {
      (served, self.isReadOnly, self.changes) = (store, isReadOnly, changes)
    }

    /// The methods that an address of the page takes; nil if there is no such address.
    static func methods(of path: String) -> [String]? {
      switch path {
      case "/", "/events", "/icon.svg", "/run", "/run/log", "/run/timeline.svg", "/run/outcome",
        "/run/state", "/run/value":
        ["GET"]
      case "/run/cancel", "/run/retry", "/run/send", "/run/forget": ["POST"]
      default: nil
      }
    }

    func response(to request: HTTPRequest) async -> HTTPResponse {
      do {
        let path = request.path
        switch (request.method, path) {
        case ("GET", "/"): return try await list(request)
        case ("GET", "/events"): return events(request)
        case ("GET", "/icon.svg"): return HTTPResponse(.svg, PageFiles.icon)
        case ("GET", "/run"): return try await run(request)
        case ("GET", "/run/log"): return try await log(request)
        case ("GET", "/run/timeline.svg"):
          // The mark is for a reader who opens the image by itself.
          let image = try await timeline(request).replacing(
            "<style>", with: "<style nonce=\"\(request.nonce)\">", maxReplacements: 1)
          return HTTPResponse(.svg, image)
        case ("GET", "/run/outcome"), ("GET", "/run/state"), ("GET", "/run/value"):
          return try await value(request)
        case ("POST", _) where path.hasPrefix("/run/"):
          return try await act(String(path.dropFirst(5)), request)
        default: throw PageProblem(.notFound, "there is no page \(request.path.quoted)")
        }
      } catch let problem as PageProblem {
        return answer(problem, to: request)
      } catch { return answer(PageProblem(.failed, "\(error)"), to: request) }
    }

    private func answer(_ problem: PageProblem, to request: HTTPRequest) -> HTTPResponse {
      if request.wantsJSON { return HTTPResponse(.json, problem.json, status: problem.status) }
      return HTTPResponse(
        .html, problem.layout(isLive: request.method != "POST").html(nonce: request.nonce).text,
        status: problem.status)
    }

    private func page(_ layout: PageLayout, _ request: HTTPRequest) -> HTTPResponse {
      HTTPResponse(.html, layout.html(nonce: request.nonce).text)
    }

    // MARK: Reading

    /// The store, if its file is still there.
    private func store() throws -> RunStore { try served.checked() }

    private func list(_ request: HTTPRequest) async throws -> HTTPResponse {
      let query = try RunQuery(request.query)
      async let selected = store().runs(query.selection)
      let counts = try await counts.of(query, in: served)
      let runs = try await selected
      let progress = try await served.flows?.progress(of: runs) ?? [:]
      let list = RunListPage(of: query, in: served.place, runs, counts, progress, at: Date())
      return request.wantsJSON ? HTTPResponse(.json, list.json) : page(list.layout, request)
    }

    private func name(_ request: HTTPRequest) throws -> RunID {
      if let name = request.queryValue("id") { return RunID(name) }
      throw PageProblem(.badRequest, "no id; expected the name of a run, as in /run?id=NAME")
    }

    /// Returns the run of a request without its steps.
    private func summary(_ request: HTTPRequest) async throws -> RunSummary {
      let name = try name(request)
      if let summary = try await store().summary(of: name) { return summary }
      throw Self.missing(name.text)
    }

    /// Returns the run of a request.
    ///
    /// - Parameter count: Returns how many finished steps to read; nil for all.
    private func existing(
      _ request: HTTPRequest, last count: (RunSummary) -> Int? = { _ in nil }
    ) async throws -> RunDetails {
      let name = try name(request)
      if let details = try await store().run(name, last: count) { return details }
      throw Self.missing(name.text)
    }

    private static func missing(_ name: String) -> PageProblem {
      PageProblem(.notFound, "there is no run \(name.quoted); it may have been forgotten")
    }

    private func run(_ request: HTTPRequest) async throws -> HTTPResponse {
      if request.wantsJSON {
        let details = try await existing(request)
        let flow = try await flowForJSON(of: details.summary, request)
        let events = try await store().events(of: details.summary.id)
        return HTTPResponse(
          .json, RunJSON.line(details, events: events) { flow?.write(to: &$0) })
      }
      let before = try number("before", in: request)
      // One more, from which the first one on the page has changed the state.
      let details = try await existing(request) { run in
        max(0, run.step - (before ?? run.step)) + RunViewPage.pageSize + 1
      }
      let id = details.summary.id
      let children = try await children(of: id)
      let isPart = children.count == Self.shownChildren
      let counts = isPart ? try await store().counts(of: RunSelection(parent: id)) : []
      let view = RunViewPage(
        details: details, before: before, children: children, counts: counts,
        events: try await store().events(of: id, last: RunViewPage.shownEvents + 1),
        flow: try await flow(of: details.summary, request),
        command: try await served.flows?.continuation(of: details), secret: request.formSecret,
        problemOfActions: try await problemOfActions(), now: Date())
      return page(view.layout, request)
    }

    /// The steps of a run of a flow file; nil for another run.
    private func flow(of run: RunSummary, _ request: HTTPRequest) async throws -> FlowRunView? {
      let step = request.queryValue("step")
      return try await served.flows?.steps(of: run, including: step).map {
        FlowRunView($0, of: run.id, selected: step, at: Date())
      }
    }

    /// The steps of a run of a flow file, or the one that the request names.
    private func flowForJSON(
      of run: RunSummary, _ request: HTTPRequest
    ) async throws -> FlowRunView? {
      guard let name = request.queryValue("step"), let flows = served.flows else {
        return try await flow(of: run, request)
      }
      guard let step = try await flows.step(name, of: run) else {
        throw PageProblem(.notFound, "the run has no step \(name.quoted)")
      }
      return FlowRunView(step, of: run.id, selected: name, at: Date())
    }

    /// The whole log of a step of a flow file.
    private func log(_ request: HTTPRequest) async throws -> HTTPResponse {
      let run = try await summary(request)
      let step = request.queryValue("step") ?? ""
      do {
        guard let (file, size) = try await served.flows?.log(of: step, in: run) else {
          throw PageProblem(.notFound, "the run has no step \(step.quoted)")
        }
        return HTTPResponse(.text, ResponseFile(file, size: size))
      } catch let problem as FlowRunLogs.Problem {
        if case .other = problem { throw PageProblem(.failed, "\(problem)") }
        throw PageProblem(.notFound, "\(problem)")
      }
    }

    private func number(_ name: String, in request: HTTPRequest) throws -> Int? {
      guard let text = request.queryValue(name) else { return nil }
      if let number = Int(text), number >= 0 { return number }
      throw PageProblem(
        .badRequest, "invalid \(name) \(text.quoted); expected the number of a step, from 0")
    }

    /// A stored value as plain text: the outcome, the state, the state or value after a step, or the
    /// value of an event.
    private func value(_ request: HTTPRequest) async throws -> HTTPResponse {
      if let event = request.queryValue("event"), request.path == "/run/value" {
        let id = try await summary(request).id
        if let payload = try await store().event(event, of: id) {
          return HTTPResponse(.text, payload)
        }
        throw PageProblem(.notFound, "the run has received no event \(event.quoted)")
      }
      let position = try number("position", in: request)
      let details = try await existing(request) { run in
        position.map { max(1, run.step - $0) } ?? 0
      }
      let step = details.steps.first { $0.key.isEmpty && $0.position == position }
      if let position, step == nil {
        throw PageProblem(.notFound, "the run keeps no step \(position)")
      }
      let text: String? =
        switch request.path {
        case "/run/outcome": details.outcome
        case "/run/state": position == nil ? details.sequence : step?.state
        default: step?.value
        }
      guard let text else { throw PageProblem(.notFound, "there is no such value") }
      return HTTPResponse(.text, text)
    }

    /// The child flows of a run, the newest first.
    private func children(of id: RunID) async throws -> [RunSummary] {
      try await store().runs(RunSelection(parent: id, limit: Self.shownChildren))
    }

    /// The picture of the last steps, and of the child flows.
    private func timeline(_ request: HTTPRequest) async throws -> String {
      let run = try await summary(request)
      if let flow = try await served.flows?.steps(of: run, including: nil) {
        return OperationTrace(flow.steps, of: run, at: Date()).svg
      }
      let count = RunViewPage.pageSize
      let details = try await existing(request) { _ in count + 1 }
      var children: [RunDetails] = []
      for child in try await self.children(of: details.summary.id).reversed() {
        if let details = try await store().run(child.id) { children.append(details) }
      }
      return OperationTrace(details, children: children, last: count).svg
    }

    // MARK: Events

    /// Sends an event whenever something in the store may have changed, or a log of the run that
    /// the page shows has grown.
    private func events(_ request: HTTPRequest) -> HTTPResponse {
      let growth = request.queryValue("id").flatMap { id in
        served.flows.map { FlowLogGrowth(of: RunID(id), showing: request.queryValue("step"), $0) }
      }
      return HTTPResponse.events { [changes] sink in
        await changes.eachVersion(watching: growth) {
          sink.send(EventMessage("change", data: $0))
        }
      }
    }

    // MARK: Acting

    /// Why the page has no actions; nil if it has.
    private func problemOfActions() async throws -> String? {
      isReadOnly ? "it was started with --read-only" : try await served.problemOfWriting()
    }

    /// Acts on a run. A problem contains the run as it is then.
    private func act(
      _ action: String, _ request: HTTPRequest
    ) async throws -> HTTPResponse {
      let store = try store()
      let id = request.queryValue("id").map { RunID($0) }
      do { return try await act(action, request, in: store) } catch {
        var problem = error as? PageProblem ?? PageProblem(.failed, "\(error)")
        if let id { problem.run = try? await store.summary(of: id) }
        throw problem
      }
    }

    private func act(
      _ action: String, _ request: HTTPRequest, in store: RunStore
    ) async throws -> HTTPResponse {
      if let problem = try await problemOfActions() {
        throw PageProblem(.forbidden, "the page is read-only: \(problem)")
      }
      guard let form = request.form else {
        throw PageProblem(.badRequest, "the body is no form; expected its fields, URL-encoded")
      }
      func field(_ name: String) -> String {
        form.first { $0.name == name }?.value.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
      }
      let name = request.queryValue("id") ?? ""
      guard let run = try await store.summary(of: RunID(name)) else { throw Self.missing(name) }
      let id = run.id
      if run.flow == FlowRun.flowName, action != "cancel" {
        throw PageProblem(
          .conflict, "it is a run of a flow file, which only `DevApp flow run` continues")
      }
      let done: String
      do {
        switch action {
        case "cancel":
          if run.state.hasEnded {
            throw PageProblem(.conflict, "the run has already ended (\(run.state.rawValue))")
          }
          try await store.cancel(id, because: field("reason").isEmpty ? nil : field("reason"))
          done = "The cancellation is requested."
        case "retry":
          try await store.retry(id, from: try step(field("step")))
          done = "The run is ready; a worker that knows its flow continues it."
        case "send":
          let (event, payload) = (field("event"), field("payload"))
          if event.isEmpty { throw PageProblem(.badRequest, "the name of the event is empty") }
          guard RunJSON.isValid(payload) else {
            throw PageProblem(
              .badRequest, "the value is not JSON: \(payload.quoted); put a text in quotes")
          }
          try await store.send(encoded: payload, as: event, to: id)
          done = "The event \(event.quoted) was sent. The first event of a name counts."
        case "forget":
          try await store.forget(id)
          return request.wantsJSON
            ? HTTPResponse(.json, Self.json(done: "The run is deleted.", location: "/"))
            : .redirect(to: "/")
        default: throw PageProblem(.notFound, "there is no action \(action.quoted)")
        }
      } catch let error as RunStoreError { throw PageProblem(.conflict, "\(error)") }
      return request.wantsJSON
        ? HTTPResponse(.json, Self.json(done: done, location: nil)) : .redirect(to: id.path)
    }

    private func step(_ text: String) throws -> Int? {
      if text.isEmpty { return nil }
      guard let number = Int(text), number >= 0 else {
        throw PageProblem(
          .badRequest, "invalid step \(text.quoted); expected the number of a step, from 0")
      }
      return number
    }

    private static func json(done: String, location: String?) -> [UInt8] {
      var json = JSONWriter()
      json.object { json in
        json.member("done", done)
        if let location { json.member("location", location) }
      }
      return json.bytes + [UInt8(ascii: "\n")]
    }
  }

  /// The numbers of runs, which are counted again only after a change of the store.
  private final class KnownCounts: Sendable {
    private struct Known {
      let version: String
      let text: String?
      let parent: RunID?
      let counts: [RunCount]
    }

    private let last = Lock<Known?>(nil)

    func of(_ query: RunQuery, in served: ServedStore) async throws -> [RunCount] {
      // Before the counts, so that a later change is not missed.
      let version = try await served.version()
      if let last = last.withLock(\.self), last.version == version, last.text == query.text,
        last.parent == query.parent
      {
        return last.counts
      }
      let counts = try await served.checked().counts(of: query.counted)
      let known = Known(version: version, text: query.text, parent: query.parent, counts: counts)
      last.withLock { $0 = known }
      return counts
    }
  }

  extension HTTPRequest {
    /// Whether the client prefers JSON to a page.
    fileprivate var wantsJSON: Bool {
      let accept = headers["Accept"] ?? ""
      return accept.contains("application/json") && !accept.contains("text/html")
    }
  }

  extension PageProblem {
    fileprivate var status: Int {
      switch kind {
      case .badRequest: 400
      case .notFound: 404
      case .conflict: 409
      case .forbidden: 403
      case .failed: 500
      case .unavailable: 503
      }
    }
  }
#endif
