#if canImport(HTTPServing)
  import CompositeOperations
  import DurableOperations
  import Foundation
  import HTTPServing
  import OperationTracing
  import SystemSupport

  extension RunRoutes {
    /// The number of child flows that a page and a timeline show.
    private static let shownChildren = 20

    func list(_ request: HTTPRequest) async throws -> HTTPResponse {
      let query = try RunQuery(request.query)
      async let selected = store().runs(query.selection)
      let counts = try await counts.of(query, in: served)
      let runs = try await selected
      let progress = try await served.flows?.progress(of: runs) ?? [:]
      let list = try RunListPage(
        of: query, in: served.place, runs, counts, progress,
        secret: try await problemOfActions() == nil ? request.formSecret : nil, at: store().now)
      return request.prefersJSON ? HTTPResponse(.json, list.json) : page(list.layout, request)
    }

    func metrics(_ request: HTTPRequest) async throws -> HTTPResponse {
      HTTPResponse(.metrics, RunMetrics(try await store().totals()).bytes)
    }

    func run(_ request: HTTPRequest) async throws -> HTTPResponse {
      if request.prefersJSON {
        let details = try await existing(request)
        let flow = try await flowForJSON(of: details.summary, request)
        let events = try await store().events(of: details.summary.id)
        return HTTPResponse(
          .json,
          RunJSON.line(
            details, events: events, actions: try await store().actions(on: details.summary.id)
          ) {
            flow?.write(to: &$0)
          })
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
        recorded: try await store().actions(on: id),
        flow: try await flow(of: details.summary, request),
        command: try await served.flows?.continuation(of: details), secret: request.formSecret,
        problemOfActions: try await problemOfActions(), now: try store().now)
      return page(view.layout, request)
    }

    /// The steps of a run of a flow file; nil for another run.
    private func flow(of run: RunSummary, _ request: HTTPRequest) async throws -> FlowRunView? {
      let step = request.queryValue("step")
      guard let steps = try await served.flows?.steps(of: run, including: step) else { return nil }
      if let step, !steps.all.contains(where: { $0.name == step }) {
        throw Self.missing(step: step)
      }
      return FlowRunView(steps, of: run.id, selected: step, at: Date())
    }

    /// The steps of a run of a flow file, or the one that the request names.
    private func flowForJSON(
      of run: RunSummary, _ request: HTTPRequest
    ) async throws -> FlowRunView? {
      guard let name = request.queryValue("step"), let flows = served.flows else {
        return try await flow(of: run, request)
      }
      guard let step = try await flows.step(name, of: run) else {
        throw Self.missing(step: name)
      }
      return FlowRunView(step, of: run.id, selected: name, at: Date())
    }

    private static func missing(step: String) -> PageProblem {
      PageProblem(.notFound, "the run has no step \(step.quoted)")
    }

    /// The whole log of a step of a flow file.
    func log(_ request: HTTPRequest) async throws -> HTTPResponse {
      let run = try await summary(request)
      guard let step = request.queryValue("step") else {
        throw PageProblem(
          .badRequest, "no step; expected the name of a step, as in /run/log?id=NAME&step=STEP")
      }
      do {
        guard let (file, size) = try await served.flows?.log(of: step, in: run) else {
          throw Self.missing(step: step)
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

    /// The outcome of a run as plain text.
    func outcome(_ request: HTTPRequest) async throws -> HTTPResponse {
      try text(try await existing(request) { _ in 0 }.outcome)
    }

    /// The state of a run, now or after a step, as plain text.
    func state(_ request: HTTPRequest) async throws -> HTTPResponse {
      guard let position = try number("position", in: request) else {
        return try text(try await existing(request) { _ in 0 }.sequence)
      }
      return try text(try await step(position, request).state)
    }

    /// The value of a step or an event as plain text.
    func value(_ request: HTTPRequest) async throws -> HTTPResponse {
      if let event = request.queryValue("event") {
        let id = try await summary(request).id
        if let payload = try await store().event(event, of: id) {
          return HTTPResponse(.text, payload)
        }
        throw PageProblem(.notFound, "the run has received no event \(event.quoted)")
      }
      guard let position = try number("position", in: request) else {
        throw PageProblem(
          .badRequest, "expected `position`, the number of a step, or `event`, the name of an event"
        )
      }
      return try text(try await step(position, request).value)
    }

    private func text(_ text: String?) throws -> HTTPResponse {
      if let text { return HTTPResponse(.text, text) }
      throw PageProblem(.notFound, "there is no such value")
    }

    /// Returns a finished step of the run of a request.
    private func step(_ position: Int, _ request: HTTPRequest) async throws -> RunDetails.Step {
      let details = try await existing(request) { max(1, $0.step - position) }
      if let step = details.steps.first(where: { $0.key.isEmpty && $0.position == position }) {
        return step
      }
      throw PageProblem(.notFound, "the run keeps no step \(position)")
    }

    /// The child flows of a run, the newest first.
    private func children(of id: RunID) async throws -> [RunSummary] {
      try await store().runs(RunSelection(parent: id, limit: Self.shownChildren))
    }

    /// The picture of the last steps, and of the child flows.
    func timeline(_ request: HTTPRequest) async throws -> HTTPResponse {
      // The mark is for a reader who opens the image by itself.
      let image = try await trace(request).svg.replacing(
        "<style>", with: "<style nonce=\"\(request.nonce)\">", maxReplacements: 1)
      return HTTPResponse(.svg, image)
    }

    private func trace(_ request: HTTPRequest) async throws -> OperationTrace {
      let run = try await summary(request)
      if let flow = try await served.flows?.steps(of: run, including: nil) {
        return OperationTrace(flow.steps, of: run, at: Date())
      }
      let count = RunViewPage.pageSize
      let details = try await existing(request) { _ in count + 1 }
      var children: [RunDetails] = []
      for child in try await self.children(of: details.summary.id).reversed() {
        if let details = try await store().run(child.id) { children.append(details) }
      }
      return OperationTrace(details, children: children, last: count)
    }

    /// Sends an event whenever something in the store may have changed, or a log of the run that
    /// the page shows has grown.
    func events(_ request: HTTPRequest) -> HTTPResponse {
      let growth = request.queryValue("id").flatMap { id in
        served.flows.map { FlowLogGrowth(of: RunID(id), showing: request.queryValue("step"), $0) }
      }
      return HTTPResponse.events { [changes] sink in
        await withTaskGroup(of: Void.self) { group in
          group.addTask {
            await changes.eachVersion(watching: growth) {
              sink.send(EventMessage("change", data: $0))
            }
          }
          group.addTask { await Self.sendSigns(to: sink) }
          await group.next()
          group.cancelAll()
        }
      }
    }

    /// Sends the time three times in those 30 seconds after which a page says that it has heard nothing.
    private static func sendSigns(to sink: EventSink) async {
      repeat {
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        if !sink.send(EventMessage("alive", data: "\(now)")) { return }
      } while (try? await Task.sleep(for: .seconds(10))) != nil
    }
  }
#endif
