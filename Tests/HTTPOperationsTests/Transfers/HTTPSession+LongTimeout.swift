import Foundation
import HTTPOperations

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension HTTPSession {
  /// A session with a timeout of an hour, for slow machines.
  static let longTimeout: HTTPSession = {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 3_600
    return HTTPSession(configuration)
  }()
}
