internal import CompositeOperations
internal import Foundation

/// Keeps a body in memory, up to a limit.
final class MemorySink: HTTPBodySink {
  private struct State: Sendable {
    var body = Data()
    var length: Int?
  }

  private let state = Lock(State())
  private let limit: Int
  private let request: HTTPRequestSummary
  private let progress: TransferProgress?

  /// - Parameter progress: Reports the received bytes; nil to report none.
  init(limit: Int, request: HTTPRequestSummary, progress: TransferProgress?) {
    self.limit = limit
    self.request = request
    self.progress = progress
  }

  var body: Data { state.withLock { $0.body } }

  func begin(_ head: HTTPResponseHead) throws {
    let length = head.headers.contentLength
    // A response to HEAD has the length of a body that is not sent.
    if let length, length > limit, request.method != "HEAD" {
      throw HTTPBodyLimitError(request: request, limit: limit, announced: length)
    }
    state.withLock { $0 = State(length: length) }
  }

  func append(_ bytes: Data) throws {
    let limit = limit
    let (count, length) = state.withLock { state in
      // A body that is too large is not kept.
      if state.body.count + bytes.count <= limit {
        state.body.append(bytes)
      } else {
        return (limit + 1, state.length)
      }
      return (state.body.count, state.length)
    }
    if count > limit { throw HTTPBodyLimitError(request: request, limit: limit, announced: nil) }
    progress?.report(count, of: length)
  }
}
