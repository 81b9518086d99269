#if canImport(HTTPServing)
  import CompositeOperations
  import DurableOperations
  import Foundation
  import HTTPServing
  import SystemSupport

  extension RunRoutes {
    /// Acts on a run. A problem contains the run as it is then.
    func act(_ action: RunAction, _ request: HTTPRequest) async throws -> HTTPResponse {
      let store = try store()
      let id = request.queryValue("id").map { RunID($0) }
      do { return try await act(action, request, in: store) } catch {
        var problem = PageProblem(error)
        if let id { problem.run = try? await store.summary(of: id) }
        throw problem
      }
    }

    private func act(
      _ action: RunAction, _ request: HTTPRequest, in store: RunStore
    ) async throws -> HTTPResponse {
      let field = try await fields(request)
      let run = try await summary(request)
      let done = try await perform(action, run, by: actors.name(request), field, in: store)
      if action == .forget {
        return request.prefersJSON
          ? HTTPResponse(.json, Self.json(done: done, location: "/")) : .redirect(to: "/")
      }
      return request.prefersJSON
        ? HTTPResponse(.json, Self.json(done: done, location: nil)) : .redirect(to: run.id.path)
    }

    /// Acts on the runs of a list, if the form has their number.
    func actOnList(_ action: RunAction, _ request: HTTPRequest) async throws -> HTTPResponse {
      let store = try store()
      let field = try await fields(request)
      let query = try RunQuery(request.query)
      guard query.isFiltered else {
        throw PageProblem(.badRequest, "no filter; expected state, flow, text or parent")
      }
      guard let number = Int(field("number")) else {
        throw PageProblem(
          .badRequest,
          "invalid number \(field("number").quoted); expected how many runs the action is for")
      }
      let runs = SelectedRuns(query.counted(in: query.state, of: query.flow), for: action)
      let names = try await runs.names(in: store)
      guard names.count == number else {
        throw PageProblem(
          .conflict,
          "the action is for \(names.count.counted("run")) now, and not for \(number.grouped); nothing is changed"
        )
      }
      let actor = actors.name(request)
      let report = await runs.act(on: names, in: store) { run in
        _ = try await perform(action, run, by: actor, field, in: store)
      }
      if let (name, error) = report.failures.first {
        throw PageProblem(
          .conflict,
          "\(action.rawValue): \(report), such as \(name.text.quoted): \(PageProblem(error).text)")
      }
      let location = query.path(after: nil)
      return request.prefersJSON
        ? HTTPResponse(.json, Self.json(done: "\(action.rawValue): \(report).", location: nil))
        : .redirect(to: location)
    }

    /// Returns the fields of the form of an action, without spaces around their values.
    ///
    /// - Throws: A ``PageProblem`` on a page without actions.
    private func fields(_ request: HTTPRequest) async throws -> (String) -> String {
      if let problem = try await problemOfActions() {
        throw PageProblem(.forbidden, "the page is read-only: \(problem)")
      }
      guard let form = request.form else {
        throw PageProblem(.badRequest, "the body is no form; expected its fields, URL-encoded")
      }
      return { name in
        form.first { $0.name == name }?.value.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
      }
    }

    /// Acts on a run, and keeps who has done it.
    ///
    /// - Returns: A sentence about the effect.
    private func perform(
      _ action: RunAction, _ run: RunSummary, by actor: String, _ field: (String) -> String,
      in store: RunStore
    ) async throws -> String {
      let id = run.id
      if run.flow == FlowRunBackend.flowName, action != .cancel {
        throw PageProblem(
          .conflict, "it is a run of a flow file, which only `coop flow run` continues")
      }
      let step = try step(field("step"))
      let detail: String? =
        switch action {
        case .cancel: field("reason")
        case .retry: step.map { "from step \($0)" }
        case .send: field("event")
        case .forget: nil
        }
      func note(_ result: String) {
        actors.note(action, detail?.isEmpty == true ? nil : detail, on: id.text, by: actor, result)
      }
      do {
        let done = try await store.recording(
          action.rawValue, detail?.isEmpty == true ? nil : detail, by: actor, on: id
        ) { try await perform(action, run, step, field, in: store) }
        note("done")
        return done
      } catch let error as RunStoreError where !error.isTemporary {
        note("\(error)")
        throw PageProblem(.conflict, "\(error)")
      } catch {
        note("\(error)")
        throw error
      }
    }

    /// - Returns: A sentence about the effect.
    private func perform(
      _ action: RunAction, _ run: RunSummary, _ step: Int?, _ field: (String) -> String,
      in store: RunStore
    ) async throws -> String {
      let id = run.id
      switch action {
      case .cancel:
        if run.state.hasEnded {
          throw PageProblem(.conflict, "the run has already ended (\(run.state.rawValue))")
        }
        try await store.cancel(id, because: field("reason").isEmpty ? nil : field("reason"))
        return "The cancellation is requested."
      case .retry:
        try await store.retry(id, from: step)
        return "The run is ready; a worker that knows its flow continues it."
      case .send:
        let (event, payload) = (field("event"), field("payload"))
        if event.isEmpty { throw PageProblem(.badRequest, "the name of the event is empty") }
        guard RunJSON.isValid(payload) else {
          throw PageProblem(
            .badRequest, "the value is not JSON: \(payload.quoted); put a text in quotes")
        }
        if try await store.send(encoded: payload, as: event, to: id) {
          return "The event \(event.quoted) was sent."
        }
        if try await store.send(encoded: payload, as: event, to: id, replacing: true) {
          return "The event \(event.quoted) was sent, in place of an earlier one."
        }
        throw PageProblem(
          .conflict,
          "the event \(event.quoted) does not count: a step has received one, or the limit of its wait has "
            + "passed; retry the run from that step first")
      case .forget:
        try await store.forget(id)
        return "The run is deleted."
      }
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
#endif
