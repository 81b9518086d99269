import CompositeOperations
import Foundation

// The call sites of the design. This file is compiled with the compiler's default settings, in
// Swift 6 and in Swift 5 mode, like the files of a user.

struct FetchRepositories: ComposableOperation {
  let user: String
  func perform(in context: OperationContext) async throws -> [Repository] {
    try await service.repositories(of: user)
  }
}

struct UserIssues: OperationSequence {
  let user: String
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    guard let previous else { return FetchRepositories(user: user) }
    if let repositories = previous.result(of: FetchRepositories.self) {
      return ParallelOperation(repositories.map { FetchIssues(repository: $0) })
    }
    return nil
  }
}

enum CallSites {
  static func sequence() async -> String {
    var printed = ""
    func print(_ value: Any) { printed += "\(value)" }

    switch await SequentialOperation(UserIssues(user: "octocat")).run() {
    case .result(let steps): print(steps.last(of: ParallelOperation<[[Issue]]>.self) ?? [])
    case .error(let error): print(error)
    case .cancelled: print("cancelled")
    }
    return printed
  }

  static func pack(user: String, repository: Repository) async throws -> (Profile, [Issue]) {
    let (profile, issues) = try await ParallelOperation(
      FetchProfile(user), FetchIssues(repository: repository)
    ).run().get()
    return (profile, issues)
  }

  static func lazily(urls: [URL]) -> ParallelOperation<[Page]> {
    let pages = ParallelOperation(width: .limited(to: 8), onFailure: .runAll) {
      urls.lazy.map(FetchPage.init)
    }
    return pages
  }

  static func chain() async -> [Outcome<[Issue]>] {
    let typed = FetchRepositories(user: "octocat")
      .then { repositories in
        ParallelOperation(repositories.map { FetchIssues(repository: $0) })
      }
      .map { $0.flatMap { $0 } }

    let run = typed.start()
    run.cancel()
    let outcome = await run.outcome
    return [outcome, await typed.run()]
  }

  static func callback(of oldAPI: OldAPI) -> SimpleOperation<Data> {
    let legacy = SimpleOperation<Data>.withCallback { finish in
      let call = oldAPI.fetch { data, error in
        finish(data.map(Outcome.result) ?? .error(error ?? OldAPIError.unknown))
      }
      finish.onCancel { call.cancel() }
    }
    return legacy
  }

  // MARK: The operations of the table of names

  static func ready(fetch: FetchRepositories, mirrorA: FetchPage, mirrorB: FetchPage)
    -> [any ComposableOperation]
  {
    [
      SimpleOperation { try await service.repositories(of: "octocat") },
      ParallelOperation([Repository(name: "a")].map(FetchIssues.init)),
      RaceOperation([mirrorA, mirrorB]),
      SequentialOperation(UserIssues(user: "octocat")),
      fetch.fallingBack(toEachOf: [fetch, fetch.named("mirror")]),
      fetch.named("repositories"),
      fetch.named("issues").retrying(attempts: 3).timingOut(after: .seconds(30)),
      fetch.retrying(attempts: 3, backoff: .exponential(from: .milliseconds(100)).jittered()) {
        $0 is URLError
      },
      fetch.repeating(times: 2).repeating { !$0.isEmpty }.delayed(by: .zero),
      fetch.recovering { _ in [] }.ignoringErrors(with: []).mapError { $0 },
      fetch.catching { _ in fetch }.fallingBack(to: fetch),
    ]
  }
}
