import CompositeOperations
import Foundation
import HTTPOperations

/// An operation that fetches all pages of a list in sequence.
struct FetchPages<Item: Decodable & Sendable>: ComposableOperation {
  let first: URL
  let api: GitHubAPI

  private struct Page: Sendable {
    let items: [Item]
    let next: URL?
  }

  func perform(in context: OperationContext) async throws -> [Item] {
    var items: [Item] = []
    var next: URL? = first
    var seen: Set<URL> = []
    while let url = next {
      guard seen.insert(url).inserted else {
        throw GitHubProblem("the pages of a list form a cycle")
      }
      let page = try await context.run(page(at: url))
      items += page.items
      next = page.next
    }
    return items
  }

  private func page(at url: URL) -> some ComposableOperation<Page> {
    let api = api
    return HTTPDataOperation(api.request(for: url))
      .retryingHTTP(attempts: 3, longestDelay: .seconds(60))
      .map { response in
        Page(items: try response.decoded([Item].self), next: try api.page(after: response))
      }
      .named("page \(url.path)")
  }
}

/// An operation that fetches the repositories of a user.
struct FetchRepositories: ComposableOperation {
  let user: String
  let api: GitHubAPI

  var operationName: String { "repositories of \(user)" }

  func perform(in context: OperationContext) async throws -> [Repository] {
    let first = api.list(["users", user, "repos"], "type=owner&sort=full_name")
    return try await context.run(FetchPages(first: first, api: api))
  }
}

/// An operation that fetches the open issues of a repository.
struct FetchIssues: ComposableOperation {
  let repository: Repository
  let api: GitHubAPI

  var operationName: String { "issues of \(repository.name)" }

  func perform(in context: OperationContext) async throws -> [Issue] {
    let names = repository.name.split(separator: "/", omittingEmptySubsequences: false)
    guard names.count == 2, names.allSatisfy({ GitHubAPI.isName(String($0)) }) else {
      throw GitHubProblem("invalid repository name \(repository.name.printable)")
    }
    let first = api.list(["repos"] + names.map(String.init) + ["issues"], "state=open")
    return try await context.run(FetchPages<ListedIssue>(first: first, api: api))
      .compactMap(\.issue)
  }
}
