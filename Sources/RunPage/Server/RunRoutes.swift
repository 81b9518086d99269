#if canImport(HTTPServing)
  import CompositeOperations
  import DurableOperations
  import HTTPServing

  /// The answers to the requests of the page of runs.
  ///
  /// Each address has a page and, for `Accept: application/json`, an object.
  struct RunRoutes: Sendable {
    let served: ServedStore
    let isReadOnly: Bool
    let changes: StoreChanges
    let actors: Actors
    let counts = KnownCounts()

    init(store: ServedStore, isReadOnly: Bool, changes: StoreChanges, actors: Actors) {
      (served, self.isReadOnly, self.changes, self.actors) = (store, isReadOnly, changes, actors)
    }

    /// The method that an address takes, and its answer.
    private struct Route: Sendable {
      let method: String
      let respond: @Sendable (RunRoutes, HTTPRequest) async throws -> HTTPResponse

      init(
        _ method: String,
        _ respond: @escaping @Sendable (RunRoutes, HTTPRequest) async throws -> HTTPResponse
      ) {
        (self.method, self.respond) = (method, respond)
      }
    }

    private static let routes: [String: Route] = {
      var routes = [
        "/": Route("GET") { try await $0.list($1) },
        "/events": Route("GET") { $0.events($1) },
        "/icon.svg": Route("GET") { _, _ in HTTPResponse(.svg, PageFiles.icon) },
        "/metrics": Route("GET") { try await $0.metrics($1) },
        "/run": Route("GET") { try await $0.run($1) },
        "/run/log": Route("GET") { try await $0.log($1) },
        "/run/outcome": Route("GET") { try await $0.outcome($1) },
        "/run/state": Route("GET") { try await $0.state($1) },
        "/run/timeline.svg": Route("GET") { try await $0.timeline($1) },
        "/run/value": Route("GET") { try await $0.value($1) },
      ]
      for action in RunAction.allCases {
        routes["/run/\(action)"] = Route("POST") { try await $0.act(action, $1) }
      }
      for action in RunAction.ofLists {
        routes["/runs/\(action)"] = Route("POST") { try await $0.actOnList(action, $1) }
      }
      return routes
    }()

    /// The methods that an address of the page takes; nil if there is no such address.
    static func methods(of path: String) -> [String]? { routes[path].map { [$0.method] } }

    func response(to request: HTTPRequest) async -> HTTPResponse {
      guard let route = Self.routes[request.path], route.method == request.method else {
        return answer(
          PageProblem(.notFound, "there is no page \(request.path.quoted)"), to: request)
      }
      do { return try await route.respond(self, request) } catch {
        return answer(PageProblem(error), to: request)
      }
    }

    /// Counts the runs in advance. An error is shown by the page itself.
    func countRuns() async { _ = try? await counts.of(RunQuery(), in: served) }

    private func answer(_ problem: PageProblem, to request: HTTPRequest) -> HTTPResponse {
      if request.prefersJSON { return HTTPResponse(.json, problem.json, status: problem.status) }
      // After a problem of the store, the page reloads itself at the next change.
      let isLive = request.method != "POST" && problem.status >= 500
      return HTTPResponse(
        .html, problem.layout(isLive: isLive).html(nonce: request.nonce).text,
        status: problem.status)
    }

    func page(_ layout: PageLayout, _ request: HTTPRequest) -> HTTPResponse {
      HTTPResponse(.html, layout.html(nonce: request.nonce).text)
    }

    // MARK: Reading for several answers

    /// The store, if its file is still there.
    func store() throws -> RunStore { try served.checked() }

    private func name(_ request: HTTPRequest) throws -> RunID {
      if let name = request.queryValue("id") { return RunID(name) }
      throw PageProblem(.badRequest, "no id; expected the name of a run, as in /run?id=NAME")
    }

    /// Returns the run of a request without its steps.
    func summary(_ request: HTTPRequest) async throws -> RunSummary {
      let name = try name(request)
      if let summary = try await store().summary(of: name) { return summary }
      throw Self.missing(name)
    }

    /// Returns the run of a request.
    ///
    /// - Parameter count: Returns how many finished steps to read; nil for all.
    func existing(
      _ request: HTTPRequest, last count: (RunSummary) -> Int? = { _ in nil }
    ) async throws -> RunDetails {
      let name = try name(request)
      if let details = try await store().run(name, last: count) { return details }
      throw Self.missing(name)
    }

    private static func missing(_ name: RunID) -> PageProblem {
      PageProblem(.notFound, "there is no run \(name.text.quoted); it may have been forgotten")
    }

    /// Why the page has no actions; nil if it has.
    func problemOfActions() async throws -> String? {
      isReadOnly ? "it was started with --read-only" : try await served.problemOfWriting()
    }
  }
#endif
