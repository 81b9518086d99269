public import CompositeOperations

/// Posts runs to a collector of OpenTelemetry as they end.
///
/// ```swift
/// import CompositeOperationsFoundation
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
/// Runs never wait for it: what has ended is in a queue, of which ``run()`` sends what has gathered while the
/// request before was under way. Where the queue is full runs are dropped, and so are those that the collector
/// did not take; ``droppedCount`` has how many and ``lastError`` why. What it keeps grows with the runs that go
/// on, and is limited for those that have ended.
public final class OpenTelemetryStream: OperationObserver {
  private let exporter: OpenTelemetryExporter
  private let beginning = TraceBeginning()
  private let batchLimit: Int
  private let machine: BusyLock<StateMachine>
  private let signals: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation

  /// - Parameters:
  ///   - exporter: What posts them.
  ///   - capacity: How many runs that have ended wait to be sent at most.
  ///   - batchLimit: How many runs there are in a request at most.
  /// - Precondition: Both are above 0.
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

  public func observe(_ event: OperationEvent) {
    guard let entry = TraceEntry(event) else { return }
    if machine.withLock({ $0.observed(entry) }) { signal.yield() }
  }

  /// Sends what ends, until ``finish()`` has been called and all is sent, or until the task is cancelled: then
  /// what is left is dropped. It is to be called once.
  public func run() async {
    await send()
    for await _ in signals { await send() }
    if Task.isCancelled { return machine.withLock { $0.cancelled() } }
    await send()
  }

  /// Ends the stream: what goes on is sent as unfinished, and what comes later is lost.
  public func finish() {
    machine.withLock { $0.finished() }
    signal.finish()
  }

  /// How many runs were not sent: because the queue was full, because the collector did not take them, or
  /// because ``run()`` was cancelled.
  public var droppedCount: Int { machine.withLock { $0.droppedCount } }

  /// What the last request failed by that did, mostly an ``OpenTelemetryExportError``; nil if none did.
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
