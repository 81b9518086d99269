/// A repository with the properties that are needed here.
struct Repository: Decodable, Sendable {
  /// The name including the owner: `octocat/hello-world`.
  let name: String

  private enum CodingKeys: String, CodingKey { case name = "full_name" }
}

/// An issue with the properties that are needed here.
struct Issue: Codable, Sendable {
  struct Author: Codable, Sendable { let login: String }

  let number: Int
  let title: String
  let url: String
  /// Nil if the account of the author was deleted.
  let author: Author?

  enum CodingKeys: String, CodingKey {
    case number, title
    case url = "html_url"
    case author = "user"
  }
}

/// An element of GitHub's list of issues, which also contains pull requests.
struct ListedIssue: Decodable, Sendable {
  private struct PullRequest: Decodable {}
  private enum CodingKeys: String, CodingKey { case pullRequest = "pull_request" }

  /// Nil for a pull request.
  let issue: Issue?

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let isPullRequest = try values.decodeIfPresent(PullRequest.self, forKey: .pullRequest) != nil
    issue = isPullRequest ? nil : try Issue(from: decoder)
  }
}
