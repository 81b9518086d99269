internal import Foundation

/// Where the body of a response goes.
///
/// It is told on the queue of the session; what it throws ends the transfer. Where it blocks, it holds the server
/// up, and on Linux every other request of the process. Bodies of redirects that are followed and of statuses from 400
/// do not come here.
protocol HTTPBodySink: Sendable {
  /// A response has begun, whose body comes.
  func begin(_ head: HTTPResponseHead) throws
  func append(_ bytes: Data) throws
}
