import CompositeOperations
import CompositeOperationsFoundation
import CompositeOperationsTestKit
import Foundation
import Testing

@Suite struct CancellationConformanceTests {
  private struct Failure: Error {}

  @Test func `a completion handler that takes a Result completes the operation`() async {
    let works = SimpleOperation<Int>.withCallback { finish in
      DispatchQueue.global().async { finish(Result<Int, Failure>.success(1)) }
    }
    #expect(await works.run().result == 1)
    let fails = SimpleOperation<Int>.withCallback { $0(Result<Int, any Error>.failure(Failure())) }
    #expect(await fails.run().error is Failure)
    let stops = SimpleOperation<Int>.withCallback {
      $0(Result<Int, any Error>.failure(CancellationError()))
    }
    #expect(await stops.run().isCancelled)
  }

  @Test func `a Foundation error that represents a cancellation ends the run as cancelled`() async {
    let stopped = SimpleOperation<Int> { throw CocoaError(.userCancelled) }
    #expect(await stopped.run().isCancelled)
    let failed = SimpleOperation<Int> { throw CocoaError(.fileNoSuchFile) }
    #expect(await failed.run().error is CocoaError)
  }

  /// A domain, a code, and whether they represent a cancellation.
  @Test(arguments: [
    (NSCocoaErrorDomain, 3_072, true), (NSURLErrorDomain, -999, true),
    (NSCocoaErrorDomain, -999, false), (NSURLErrorDomain, 3_072, false),
    (NSCocoaErrorDomain, 4, false), (NSURLErrorDomain, -1_009, false),
    (NSPOSIXErrorDomain, Int(ECANCELED), false), ("com.example", -999, false),
  ])
  func `an NSError is recognized as a cancellation by its domain and code`(
    domain: String, code: Int, isCancelled: Bool
  ) async {
    let thrown = SimpleOperation<Int> { throw NSError(domain: domain, code: code) }
    let called = SimpleOperation<Int>.withCallback { finish in
      finish(Result<Int, any Error>.failure(NSError(domain: domain, code: code)))
    }
    for outcome in [await thrown.run(), await called.run()] {
      #expect(outcome.isCancelled == isCancelled)
      let error = (outcome.error as? NSError)
      #expect(isCancelled || error?.domain == domain && error?.code == code)
    }
  }
}
