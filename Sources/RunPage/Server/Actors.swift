#if canImport(HTTPServing)
  import HTTPServing
  import SystemSupport

  /// Names the persons that act on the page, and reports their actions.
  package struct Actors: Sendable {
    private let header: String?
    private let report: @Sendable (String) -> Void

    /// - Parameters:
    ///   - header: The field in which a proxy names the user of a request; nil without a proxy. It counts only
    ///     beside the token, which the proxy adds.
    ///   - report: Receives a line for each action.
    package init(header: String?, report: @escaping @Sendable (String) -> Void) {
      (self.header, self.report) = (header, report)
    }

    /// The sender of a request: the user that the proxy names, the user of this machine, or the address.
    func name(_ request: HTTPRequest) -> String {
      let names = header.map { request.headers.values(of: $0) } ?? []
      // The client can have sent one of several.
      if request.hasToken, names.count == 1, !names[0].isEmpty { return names[0] }
      let user = request.user.map { "user \(SystemUser.name(of: $0))" }
      return user ?? "a client at \(request.peer)"
    }

    /// Reports an action with its result.
    func note(
      _ action: RunAction, _ detail: String?, on run: String, by actor: String, _ result: String
    ) {
      let detail = detail.map { " (\($0))" } ?? ""
      report("\(action.rawValue) \(run.escapedForShell)\(detail) by \(actor): \(result)".onOneLine)
    }
  }
#endif
