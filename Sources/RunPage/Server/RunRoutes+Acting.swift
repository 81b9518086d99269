#if canImport(HTTPServing)
  import CompositeOperations
  import DurableOperations
  import Foundation
  import HTTPServing
  import SystemSupport

  /// An action on a run, which is a part of its address.
  enum RunAction: String, CaseIterable { case cancel, retry, send, forget }

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
      if let problem = try await problemOfActions() {
        throw PageProblem(.forbidden, "the page is read-only: \(problem)")
      }
      guard let form = request.form else {
        throw PageProblem(.badRequest, "the body is no form; expected its fields, URL-encoded")
      }
      func field(_ name: String) -> String {
        form.first { $0.name == name }?.value.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
      }
      let run = try await summary(request)
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
      let actor = actors.name(request)
      func note(_ result: String) {
        actors.note(action, detail?.isEmpty == true ? nil : detail, on: id.text, by: actor, result)
      }
      let done: String
      do {
        done = try await store.recording(
          action.rawValue, detail?.isEmpty == true ? nil : detail, by: actor, on: id
        ) { try await perform(action, run, step, field, in: store) }
        note("done")
      } catch let error as RunStoreError where !error.isTemporary {
        note("\(error)")
        throw PageProblem(.conflict, "\(error)")
      } catch {
        note("\(error)")
        throw error
      }
      if action == .forget {
        return request.prefersJSON
          ? HTTPResponse(.json, Self.json(done: done, location: "/")) : .redirect(to: "/")
      }
      return request.prefersJSON
        ? HTTPResponse(.json, Self.json(done: done, location: nil)) : .redirect(to: id.path)
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
