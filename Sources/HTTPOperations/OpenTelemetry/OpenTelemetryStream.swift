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
/// }
/// ```
///
/// Runs never wait for the stream. A run that has ended goes into a queue, and ``run()`` sends the
/// runs that have accumulated during the previous request. If the queue is full, runs are dropped.
/// Runs that the collector does not accept are dropped too. ``droppedCount`` counts both, and
/// ``lastError`` has the reason. Memory grows with the number of runs in progress; it is bounded
/// for ended runs.
public final class OpenTelemetryStream: OperationObserver {
  private let exporter: OpenTelemetryExporter
  private let beginning = TraceBeginning()
  private let batchLimit: Int
  private let machine: BusyLock<StateMachine>
  private let signals: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation

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
  }

  /// Adds a run to the queue when it ends.
  public func observe(_ event: OperationEvent) {
    guard let entry = TraceEntry(event) else { return }
    if machine.withLock({ $0.observed(entry) }) { signal.yield() }
  }

  /// Sends runs as they end.
  ///
  /// It returns when ``finish()`` has been called and everything is sent, or when the task is
  /// cancelled; the queue is then dropped. Call it only once.
  public func run() async {
    await send()
    for await _ in signals { await send() }
    if Task.isCancelled { return machine.withLock { $0.cancelled() } }
    await send()
  }

  /// Ends the stream. Runs in progress are sent as unfinished, and later runs are not sent.
  public func finish() {
    machine.withLock { $0.finished() }
    signal.finish()
  }

  /// How many runs were dropped: because the queue was full, because the collector did not accept
  /// them, or because ``run()`` was cancelled.
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
