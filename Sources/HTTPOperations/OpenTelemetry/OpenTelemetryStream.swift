public import CompositeOperations
internal import OperationTracing

/// An observer that sends runs to an OpenTelemetry collector as they end.
///
/// ```swift
/// import HTTPOperations
///
/// if let collector = URL(string: "http://localhost:4318") {
///   let stream = OpenTelemetryStream(to: OpenTelemetryExporter(to: collector))
///   async let posting: Void = stream.run()
///   _ = await sync.observed(by: stream).run()
///   stream.finish()
///   await posting
///   if let error = stream.lastError { print(stream.droppedCount, "runs were dropped:", error) }
/// }
/// ```
///
/// Runs never wait for the stream. A run that has ended goes into a queue, and ``run()`` sends the
/// runs that have accumulated during the previous request. If the queue is full, runs are dropped.
/// Runs that the collector does not accept are dropped too. ``droppedCount`` counts both, and
/// ``lastError`` has the reason. Memory grows with the number of runs in progress; it is bounded
/// for ended runs.
///
/// A collector that does not answer delays the end of the program by 5 seconds, or by the limit that is
/// passed to ``finish(within:)``.
public final class OpenTelemetryStream: OperationObserver {
  private let exporter: OpenTelemetryExporter
  private let beginning = TraceBeginning()
  private let batchLimit: Int
  private let machine: BusyLock<StateMachine>
  private let signals: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation
  /// It ends with the stream.
  private let untilEnd: AsyncStream<Never>
  private let end: AsyncStream<Never>.Continuation

  /// Creates a stream to a collector.
  ///
  /// - Parameters:
  ///   - exporter: The exporter that sends the requests.
  ///   - capacity: The maximum number of ended runs in the queue.
  ///   - batchLimit: The maximum number of runs in a request.
  /// - Precondition: `capacity` and `batchLimit` are at least 1.
  public init(
    to exporter: OpenTelemetryExporter, capacity: Int = 4_096, batchLimit: Int = 512
  ) {
    precondition(capacity > 0, "`capacity` must be at least 1 (was \(capacity))")
    precondition(batchLimit > 0, "`batchLimit` must be at least 1 (was \(batchLimit))")
    self.exporter = exporter
    self.batchLimit = batchLimit
    machine = BusyLock(StateMachine(from: beginning, capacity: capacity))
    (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    (untilEnd, end) = AsyncStream.makeStream()
  }

  /// Adds a run to the queue when it ends.
  public func observe(_ event: OperationEvent) {
    guard let entry = TraceEntry(event) else { return }
    if machine.withLock({ $0.observed(entry) }) { signal.yield() }
  }

  /// Sends runs as they end.
  ///
  /// It returns when ``finish(within:)`` has been called and everything is sent, or the limit of that call
  /// has passed; or when the task is cancelled. The queue is dropped in the latter two cases. Call it only
  /// once.
  public func run() async {
    // The body throws no error.
    let isInTime = try? await exporter.environment.performs(
      within: self.machine.withLock(\.limitOfEnd),
      after: { [untilEnd] in for await _ in untilEnd {} },
      { [self] in
        await send()
        for await _ in signals { await send() }
        if !Task.isCancelled { await send() }
      })
    let limit = machine.withLock { machine in
      machine.cancelled()
      return machine.limitOfEnd
    }
    if isInTime == true || Task.isCancelled { return }
    let error = OpenTelemetryExportError(url: exporter.url, reason: .tooSlow(limit: limit))
    _ = machine.withLock { $0.failed(by: error) }
  }

  /// Ends the stream. Runs in progress are sent as unfinished, and later runs are not sent.
  ///
  /// After a limit, ``run()`` cancels the request in progress and drops the runs that were not sent.
  /// ``droppedCount`` has their number, and ``lastError`` the reason.
  ///
  /// - Parameter limit: How long sending may take from now on, measured by the clock of the exporter's
  ///   environment. The first call counts.
  public func finish(within limit: Duration = .seconds(5)) {
    machine.withLock { $0.finished(within: limit) }
    signal.finish()
    end.finish()
  }

  /// How many runs were dropped: because the queue was full, because the collector did not accept
  /// them, or not in time, or because ``run()`` was cancelled.
  public var droppedCount: Int { machine.withLock { $0.droppedCount } }

  /// The error of the last request that failed, usually an ``OpenTelemetryExportError``; nil if
  /// none failed.
  public var lastError: (any Error)? { machine.withLock { $0.error } }

  private func send() async {
    var encoder = OpenTelemetryEncoder(
      service: exporter.service, seed: beginning.seed, beginning: beginning.wallClock)
    while !Task.isCancelled {
      let batch = machine.withLock { $0.taken(atMost: batchLimit) }
      if batch.isEmpty { return }
      do {
        try await exporter.post(encoder.block(of: batch, now: beginning.elapsed))
      } catch {
        _ = machine.withLock { $0.failed(batch, by: error) }
      }
    }
  }
}
