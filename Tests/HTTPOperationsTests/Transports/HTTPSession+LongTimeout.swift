import HTTPOperations

extension HTTPSession {
  /// A session with a timeout of an hour, for slow machines.
  static let longTimeout: HTTPSession = {
    var configuration = HTTPConfiguration()
    configuration.timeout = .seconds(3_600)
    return HTTPSession(configuration)
  }()
}
