internal import Foundation

/// A receiver for the body of a response.
///
/// It is called on the queue of the session. An error that it throws ends the transfer. If it
/// blocks, the server has to wait, and on Linux so do all other requests of the process. It does
/// not receive the bodies of redirects that are followed, and of statuses from 400 on.
protocol HTTPBodySink: Sendable {
  /// A response has begun. Its body follows.
  func begin(_ head: HTTPResponseHead) throws
  func append(_ bytes: Data) throws
}
