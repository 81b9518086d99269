import CompositeOperations
import Foundation
import Testing

/// Runs the call sites of the design.
@Suite struct CallSiteTests {
  private let octocat = ["octocat/a", "octocat/b"].map(Repository.init)
  private var issues: [[Issue]] {
    octocat.map { repository in
      [Issue(title: "\(repository.name)#1"), Issue(title: "\(repository.name)#2")]
    }
  }

  @Test func `S1: a sequence returns the next operation, and its steps are found by type`() async {
    #expect(await CallSites.sequence() == "\(issues)")
  }

  @Test func `P1: operations of different types give a tuple`() async throws {
    let (profile, found) = try await CallSites.pack(user: "octocat", repository: octocat[0])
    #expect(profile == Profile(name: "octocat"))
    #expect(found == issues[0])
  }

  @Test func `P6: children are created from a lazy sequence`() async throws {
    let urls = try (0..<20).map { try #require(URL(string: "http://localhost/\($0)")) }
    #expect(await CallSites.lazily(urls: urls).run().result == urls.map(Page.init))
    let missing = try #require(URL(string: "http://localhost/missing"))
    let outcome = await CallSites.lazily(urls: urls + [missing]).run()
    let error = try #require(outcome.error as? ParallelOperationError)
    #expect(error.failures.map(\.index) == [20])
    #expect(error.outcomes(of: Page.self)?.compactMap(\.result).count == 20)
  }

  @Test func `O3: a chain is started, cancelled and awaited, and run again`() async {
    let outcomes = await CallSites.chain()
    // The run is cancelled immediately, but can end before on another thread.
    let expected = issues.flatMap(\.self)
    #expect(outcomes[0].isCancelled || outcomes[0].result == expected)
    #expect(outcomes[1].result == expected)
  }

  @Test func `O5: an interface with completion handlers becomes an operation`() async {
    let data = Data([1, 2, 3])
    let good = CallSites.callback(of: OldAPI(answer: (data, nil)))
    #expect(await good.run().result == data)
    let bad = CallSites.callback(of: OldAPI(answer: (nil, nil)))
    #expect(await bad.run().error is OldAPIError)
    let run = CallSites.callback(of: OldAPI(answer: nil)).start()
    run.cancel()
    #expect(await run.outcome.isCancelled)
  }

  @Test func `every operation of the table of names has a result`() async throws {
    let page = FetchPage(url: try #require(URL(string: "http://localhost/")))
    let fetch = FetchRepositories(user: "octocat")
    for operation in CallSites.ready(fetch: fetch, mirrorA: page, mirrorB: page) {
      #expect(await operation.comesToResult(), "\(operation.operationName)")
    }
  }
}

extension ComposableOperation {
  fileprivate func comesToResult() async -> Bool { await run().result != nil }
}
