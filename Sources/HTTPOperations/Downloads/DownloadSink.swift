internal import CompositeOperations
internal import Foundation

/// Writes a body to a file, on a thread that may block.
final class DownloadSink: HTTPBodySink {
  /// The response cannot be used, and the whole has to be requested.
  struct RestartRequired: Error {}

  private struct State: Sendable {
    var count = 0
    var total: Int?
  }

  private let file: PartialFile
  private let plan: DownloadPlan
  private let url: URL
  private let request: HTTPRequestSummary
  private let progress: TransferProgress
  private let backlog = Backlog(of: 8 << 20, on: HTTPThreads.files)
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

  /// How many bytes are written, including the resumed ones.
  var count: Int { state.withLock { $0.count } }
  /// How many bytes are expected; nil if that is unknown.
  var total: Int? { state.withLock { $0.total } }

  func begin(_ head: HTTPResponseHead) throws {
    let (file, plan) = (file, plan)
    switch plan.decision(on: head) {
    case .append(let total):
      try backlog.add(0) { try file.seek(to: plan.offset) }
      state.withLock { $0 = State(count: plan.offset, total: total) }
    case .restart(let total):
      let record = DownloadRecord(of: url, head, total: total)
      try backlog.add(0) { try file.restart(record) }
      state.withLock { $0 = State(count: 0, total: total) }
    case .requestWhole: throw RestartRequired()
    case .complete, .fail: throw HTTPStatusError(request: request, head: head, body: Data())
    }
  }

  func append(_ bytes: Data) throws {
    try backlog.add(bytes.count) { try self.write(bytes) }
  }

  private func write(_ bytes: Data) throws {
    try file.write(bytes) { backlog.isStopped }
    let now = state.withLock { state in
      state.count += bytes.count
      return state
    }
    progress.report(now.count, of: now.total)
  }

  /// Stops waiting for room and for the reader of a pipe, because the run is cancelled.
  func stop() { backlog.stop() }

  /// Waits until all received bytes are written.
  ///
  /// - Throws: ``FileError`` if they cannot be written.
  func finish() async throws { try await backlog.finish() }
}
