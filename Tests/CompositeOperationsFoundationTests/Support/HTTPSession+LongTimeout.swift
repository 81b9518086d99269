import CompositeOperationsFoundation
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension HTTPSession {
  /// One that waits for answers for an hour, however slow the machine is that tests are run on.
  static let longTimeout: HTTPSession = {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 3_600
    return HTTPSession(configuration)
  }()
}
