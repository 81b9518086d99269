internal import CompositeOperations
internal import Foundation

/// Writes a body to a file.
final class DownloadSink: HTTPBodySink {
  /// The response is of no use: the whole is to be asked for.
  struct WholeNeeded: Error {}

  private struct State: Sendable {
    var count = 0
    var total: Int?
  }

  private let file: PartialFile
  private let plan: DownloadPlan
  private let url: URL
  private let request: HTTPRequestSummary
  private let progress: TransferProgress
  private let state = Lock(State())

  init(
    to file: PartialFile, plan: DownloadPlan, url: URL, request: HTTPRequestSummary,
    progress: TransferProgress
  ) {
    self.file = file
    self.plan = plan
    self.url = url
    self.request = request
    self.progress = progress
  }

  /// How many bytes there are, with those that were there before.
  var count: Int { state.withLock { $0.count } }
  /// How many there are to be.
  var total: Int? { state.withLock { $0.total } }

  func begin(_ head: HTTPResponseHead) throws {
    switch plan.decision(on: head) {
    case .append(let total):
      try file.seek(to: plan.offset)
      let offset = plan.offset
      state.withLock { $0 = State(count: offset, total: total) }
    case .startAnew(let total):
      try file.startAnew(DownloadRecord(of: url, head))
      state.withLock { $0 = State(count: 0, total: total) }
    case .askForWhole: throw WholeNeeded()
    case .complete, .fail: throw HTTPStatusError(request: request, head: head, body: Data())
    }
  }

  func append(_ bytes: Data) throws {
    try file.write(bytes)
    let now = state.withLock { state in
      state.count += bytes.count
      return state
    }
    progress.report(now.count, of: now.total)
  }
}
