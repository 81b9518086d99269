import CompositeOperations
import CompositeOperationsTestKit
import XCTest

/// Tests of a flow that use XCTest.
final class FlowTests: XCTestCase {
  private let offline = ScriptedError("offline")

  func testAFetchIsRetriedUntilItHasAResult() async throws {
    let fetch = ScriptedOperation("fetch", runs: [.error(offline), .error(offline), .result(7)])
    let recorder = RecordingObserver()
    let outcome = await fetch.retrying(attempts: 3).observed(by: recorder).run()
    try outcome.expectResult(7)
    try recorder.expect(.retried("fetch"), times: 2)
    XCTAssertEqual(fetch.runCount, 3)
  }

  func testTheFirstFailureCancelsTheOthers() throws {
    try TimelineTest(["---r", "-^"]) { children in ParallelOperation(children) }
      .expect("-^", children: ["-x", "-^"])
  }

  func testTheOrderOfAnswersDoesNotMatter() async throws {
    try await SeedHunt(seeds: 0..<50).run { environment in
      let fetches = (0..<3).map { number in
        ScriptedOperation("fetch", runs: [.result(number).after(.seconds(number % 2))])
      }
      try await ParallelOperation(fetches).run(in: environment).expectResult([0, 1, 2])
    }
  }

  func testAnUnmetExpectationThrowsAnErrorThatDescribesIt() async {
    let outcome = await ScriptedOperation<Int>("fetch", runs: [.error(offline)]).run()
    XCTAssertThrowsError(try outcome.expectResult(7)) { error in
      XCTAssert(
        "\(error)".hasSuffix(
          "expected the result 7, but saw an error of type ScriptedError: offline"))
    }
  }
}
