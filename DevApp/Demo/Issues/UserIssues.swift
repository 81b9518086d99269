import CompositeOperations

/// A sequence that fetches the repositories of a user, then the issues of all of them in parallel.
struct UserIssues: OperationSequence {
  private let user: String
  private let api: GitHubAPI
  private let width: Int
  private var repositories: [Repository] = []
  private var report: IssueReport

  init(user: String, api: GitHubAPI, width: Int) {
    self.user = user
    self.api = api
    self.width = width
    report = IssueReport(user: user)
  }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    guard let previous else { return FetchRepositories(user: user, api: api) }
    if let found = previous.result(of: FetchRepositories.self) {
      repositories = found
      let fetches = found.map { FetchIssues(repository: $0, api: api) }
      return ParallelOperation(fetches, width: .limited(to: width))
        .collectingOutcomes().named("issues of all repositories")
    }
    if let outcomes = previous.result(as: [Outcome<[Issue]>].self) {
      for (repository, outcome) in zip(repositories, outcomes) {
        report.add(outcome, of: repository)
      }
    }
    return nil
  }

  func output(of steps: FinishedSteps) -> IssueReport { report }
}
