import CommandLineOperations
import CompositeOperations
import Foundation

/// `DevApp issues [--api URL] [--width N] [--json] USER`
struct IssuesCommand {
  static let usage = """
    usage: DevApp issues [--api URL] [--width N] [--json] [--trace FILE] [--timeline FILE] USER

    Lists the open issues of all repositories of USER on GitHub, or on a server with the same API.

      --api URL         the server (default: https://api.github.com)
      --width N         fetches the issues of at most N repositories at once (default: 4)
      --json            prints one JSON object on standard output
    \(TraceOptions.usage)

    The environment variable GITHUB_TOKEN may contain a token, for a higher rate limit. The token is sent only to the
    server of the URL, and only over https or to this machine. If the issues of a repository cannot be fetched, its name is
    printed beside the results of the others. Exit status: 0 all results, 1 error or results missing, 64 invalid arguments,
    130 interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.
    """

  private var options = TraceOptions()
  private var isJSON = false
  private var width = 4
  private var user = ""
  private var api: GitHubAPI

  /// - Parameter token: The token in the environment.
  init(
    _ arguments: ArraySlice<RawPath>,
    token: String? = ProcessInfo.processInfo.environment["GITHUB_TOKEN"]
  ) throws(UsageError) {
    var address = "https://api.github.com"
    var rest = arguments
    while let argument = rest.popFirst() {
      if try options.take(argument, from: &rest, for: "issues") { continue }
      switch argument.text {
      case "--json": isJSON = true
      case "--api": address = try Self.value(of: "--api", "a URL", in: &rest)
      case "--width":
        let text = try Self.value(of: "--width", "a number", in: &rest)
        guard let number = Int(text), (1...1_000).contains(number) else {
          throw UsageError("issues: invalid width \(text); expected a number from 1 to 1000")
        }
        width = number
      case let text? where text.hasPrefix("-"):
        throw UsageError(
          "issues: unknown option \(argument); expected --api, --width, --json, --trace, --timeline or a USER"
        )
      case let text? where user.isEmpty && GitHubAPI.isName(text): user = text
      default:
        throw UsageError("issues: unexpected argument \(argument); expected one GitHub user name")
      }
    }
    if user.isEmpty { throw UsageError("issues: no USER; expected a GitHub user name") }
    api = try GitHubAPI(address, token: token.flatMap { $0.isEmpty ? nil : $0 })
  }

  private static func value(
    of option: String, _ expected: String, in rest: inout ArraySlice<RawPath>
  ) throws(UsageError) -> String {
    guard let value = rest.popFirst()?.text, !value.isEmpty else {
      throw UsageError("issues: \(option) without a value; expected \(expected)")
    }
    return value
  }

  /// - Returns: The exit status.
  func run() async throws -> Int32 {
    let standardError = StandardError()
    let observation = try ProgramObservation(options, progressOn: standardError)
    let list = UserIssues(user: user, api: api, width: width)
    let flow = try await ProgramRun(
      of: SequentialOperation(list).named("issues"), observedBy: observation)
    let status = show(flow, standardError)
    try observation.end()
    return status
  }

  private func show(_ flow: ProgramRun<IssueReport>, _ standardError: StandardError) -> Int32 {
    switch flow.outcome {
    case .result(let report):
      do {
        try StandardOutput().write(isJSON ? try report.json() : Array(report.text.utf8))
      } catch {
        standardError.writeLine("DevApp issues: the report cannot be written: \(error)")
        return ExitStatus.failure
      }
      for line in report.problemLines { standardError.writeLine(line) }
      if !isJSON { standardError.writeLine(report.summary(after: flow.duration)) }
      return report.isComplete ? ExitStatus.success : ExitStatus.failure
    case .error(let error):
      let cause = (error as? SequentialOperationError)?.cause ?? error
      standardError.writeLine("DevApp issues: \(GitHubProblem.text(of: cause, user: user))")
      return ExitStatus.failure
    case .cancelled:
      standardError.writeLine("DevApp issues: interrupted")
      return flow.interruptedStatus
    }
  }
}
