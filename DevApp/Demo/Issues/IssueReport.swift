import CompositeOperations
import Foundation

/// The result of a run: the issues by repository.
struct IssueReport: Sendable {
  struct Part: Sendable {
    let repository: String
    let issues: [Issue]
    /// Why the issues are missing; nil if they are complete.
    let problem: String?
  }

  let user: String
  private(set) var parts: [Part] = []

  init(user: String) { self.user = user }

  mutating func add(_ outcome: Outcome<[Issue]>, of repository: Repository) {
    let problem: String? =
      switch outcome {
      case .result: nil
      case .error(let error): GitHubProblem.text(of: error)
      case .cancelled: "cancelled"
      }
    parts.append(
      Part(
        repository: repository.name.printable, issues: outcome.result ?? [], problem: problem))
  }

  /// Whether the issues of every repository were fetched.
  var isComplete: Bool { parts.allSatisfy { $0.problem == nil } }

  /// The issues as text, one per line below their repository.
  var text: String {
    parts.filter { !$0.issues.isEmpty }.map { part in
      "\(part.repository): \(part.issues.count.counted("open issue"))\n"
        + part.issues.map { issue in
          "  #\(issue.number) \(issue.title.printable)"
            + (issue.author.map { " (\($0.login.printable))" } ?? "") + "\n"
        }.joined()
    }.joined(separator: "\n")
  }

  /// The failures, one line each.
  var problemLines: [String] {
    parts.compactMap { part in part.problem.map { "failed: \(part.repository): \($0)" } }
  }

  /// Returns the totals as a sentence.
  func summary(after duration: Duration) -> String {
    let repositories =
      parts.count == 1 ? "1 repository" : "\(parts.count.grouped) repositories"
    let issues = parts.reduce(0) { $0 + $1.issues.count }.counted("open issue")
    let failures = problemLines.isEmpty ? "" : ", \(problemLines.count.grouped) failed"
    let seconds = ((duration / .seconds(1)) * 100).rounded() / 100
    return "\(issues) in \(repositories) of \(user)\(failures), \(seconds) s"
  }

  /// The report as a JSON object.
  func json() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(Document(self))) + [UInt8(ascii: "\n")]
  }

  private struct Document: Encodable {
    struct Listed: Encodable {
      let number: Int
      let title: String
      let url: String
      let author: String?
    }

    struct Part: Encodable {
      let name: String
      let issues: [Listed]
      let error: String?
    }

    let user: String
    let repositories: [Part]

    init(_ report: IssueReport) {
      user = report.user
      repositories = report.parts.map { part in
        let issues = part.issues.map { issue in
          Listed(
            number: issue.number, title: issue.title, url: issue.url, author: issue.author?.login)
        }
        return Part(name: part.repository, issues: issues, error: part.problem)
      }
    }
  }
}
