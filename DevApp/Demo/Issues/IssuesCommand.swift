import CompositeOperations
import Foundation

/// `DevApp issues [--api URL] [--width N] [--json] USER`
struct IssuesCommand {
  static let usage = """
    usage: DevApp issues [--api URL] [--width N] [--json] [--trace FILE] [--timeline FILE] USER

    Lists the open issues of all repositories of USER on GitHub, or on a server that speaks as GitHub does.

      --api URL         the server; https://api.github.com if it is left out
      --width N         how many repositories are asked for at the same time; 4 if it is left out
      --json            one JSON object on standard output, for programs
    \(FlowOptions.usage)

    The environment variable GITHUB_TOKEN may have a token: GitHub answers more often to those who have one. It is sent to
    the server of the URL alone, and only over https or to this machine. A repository whose issues cannot be had is named
    beside the results of the others. Exit status: 0 all results, 1 error or not all results, 64 wrong arguments,
    130 interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.
    """

  private var options = FlowOptions()
  private var isJSON = false
  private var width = 4
  private var user = ""
  private var api: GitHubAPI

  /// - Parameter token: What the environment has.
  init(
    _ arguments: ArraySlice<RawPath>,
    token: String? = ProcessInfo.processInfo.environment["GITHUB_TOKEN"]
  ) throws(UsageError) {
    var address = "https://api.github.com"
    var rest = arguments
    while let argument = rest.popFirst() {
      if try options.take(argument, from: &rest, for: "issues") { continue }
      switch argument.utf8 {
      case "--json": isJSON = true
      case "--api": address = try Self.value(of: "--api", "a URL", in: &rest)
      case "--width":
        let text = try Self.value(of: "--width", "a number", in: &rest)
        guard let number = Int(text), (1...1_000).contains(number) else {
          throw UsageError("issues: the width \(text); expected a number from 1 to 1000")
        }
        width = number
      case let text? where text.hasPrefix("-"):
        throw UsageError(
          "issues: unknown option \(argument); expected --api, --width, --json, --trace, --timeline or a USER"
        )
      case let text? where user.isEmpty && GitHubAPI.isName(text): user = text
      default:
        throw UsageError("issues: \(argument) is no USER; expected one name as GitHub has them")
      }
    }
    if user.isEmpty { throw UsageError("issues: no USER; expected whose repositories to look at") }
    api = try GitHubAPI(address, token: token.flatMap { $0.isEmpty ? nil : $0 })
  }

  private static func value(
    of option: String, _ expected: String, in rest: inout ArraySlice<RawPath>
  ) throws(UsageError) -> String {
    guard let value = rest.popFirst()?.utf8, !value.isEmpty else {
      throw UsageError("issues: \(option) without a value; expected \(expected)")
    }
    return value
  }

  /// - Returns: The exit status.
  func run() async throws -> Int32 {
    let standardError = StandardError()
    let observation = try FlowObservation(options, progressOn: standardError)
    let list = UserIssues(user: user, api: api, width: width)
    let flow = try await PerformedFlow(
      of: SequentialOperation(list).named("issues"), seenBy: observation)
    let status = show(flow, standardError)
    try observation.end()
    return status
  }

  private func show(_ flow: PerformedFlow<IssueReport>, _ standardError: StandardError) -> Int32 {
    switch flow.outcome {
    case .result(let report):
      do {
        try StandardOutput().write(isJSON ? try report.json() : Array(report.text.utf8))
      } catch {
        standardError.writeLine("DevApp issues: the report cannot be written: \(error)")
        return ExitCode.failure
      }
      for line in report.problemLines { standardError.writeLine(line) }
      if !isJSON { standardError.writeLine(report.summary(after: flow.duration)) }
      return report.isComplete ? ExitCode.success : ExitCode.failure
    case .error(let error):
      let cause = (error as? SequentialOperationError)?.cause ?? error
      standardError.writeLine("DevApp issues: \(GitHubProblem.text(of: cause, user: user))")
      return ExitCode.failure
    case .cancelled:
      standardError.writeLine("DevApp issues: interrupted")
      return flow.interruptedStatus
    }
  }
}
