/// A repository, as far as it matters here.
struct Repository: Decodable, Sendable {
  /// With that of its owner: `octocat/hello-world`.
  let name: String

  private enum CodingKeys: String, CodingKey { case name = "full_name" }
}

/// An issue, as far as it matters here.
struct Issue: Codable, Sendable {
  struct Author: Codable, Sendable { let login: String }

  let number: Int
  let title: String
  let url: String
  /// Nil where whoever wrote it has left.
  let author: Author?

  enum CodingKeys: String, CodingKey {
    case number, title
    case url = "html_url"
    case author = "user"
  }
}

/// What GitHub lists among issues: also requests to pull, which are none.
struct ListedIssue: Decodable, Sendable {
  private struct PullRequest: Decodable {}
  private enum CodingKeys: String, CodingKey { case pullRequest = "pull_request" }

  /// Nil for a request to pull.
  let issue: Issue?

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let isPullRequest = try values.decodeIfPresent(PullRequest.self, forKey: .pullRequest) != nil
    issue = isPullRequest ? nil : try Issue(from: decoder)
  }
}
