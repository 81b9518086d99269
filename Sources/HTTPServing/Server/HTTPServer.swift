internal import CompositeOperations

/// The connections of a running server, and the tasks that work for them.
///
/// The thread of libmicrohttpd reads requests and sends responses. It hands each request to a child
/// task of the operation, and never waits for a task.
final class HTTPServer: Sendable {
  /// A request that waits for its response.
  struct Exchange: Sendable {
    let request: HTTPRequest
    let connection: ServerConnection
    let number: Int
  }

  private struct State: Sendable {
    var connections: [ObjectIdentifier: ServerConnection] = [:]
    var isStopping = false
  }

  let requestGuard: RequestGuard
  let limits: ServerLimits
  let loginPage: ServeHTTP.LoginPage
  private let state = Lock(State())
  private let exchanges = AsyncStream<Exchange>.makeStream()
  private let timers: [ConnectionDeadline.Kind: Signal]
  private let drained = Signal()

  init(
    guardedBy requestGuard: RequestGuard, limits: ServerLimits,
    loginPage: @escaping ServeHTTP.LoginPage
  ) {
    (self.requestGuard, self.limits, self.loginPage) = (requestGuard, limits, loginPage)
    timers = Dictionary(
      uniqueKeysWithValues: ConnectionDeadline.Kind.allCases.map { ($0, Signal()) })
  }

  /// Serves requests until the task is cancelled, and then stops the daemon.
  func serve(_ handler: @escaping ServeHTTP.Handler, from daemon: HTTPDaemon) async {
    await withDiscardingTaskGroup { group in
      for kind in ConnectionDeadline.Kind.allCases {
        group.addTask { await self.enforceDeadlines(kind) }
      }
      for await exchange in exchanges.stream {
        group.addTask { await exchange.run(handler, heartbeatTime: self.limits.heartbeatTime) }
      }
      daemon.quiesce()
      for connection in stopped() { connection.stop() }
    }
    // A suspended connection would end the process. So this does not rely on the stream to return
    // every request that it has accepted.
    for connection in connections { connection.abandonHandler() }
    await drain()
    await daemon.stop()
  }

  /// Waits until the remaining responses are sent, at most for the closing time. The task has been
  /// cancelled, so this happens in another one.
  private func drain() async {
    await UnstructuredTasks.runShielded {
      await withDiscardingTaskGroup { group in
        let end = ContinuousClock.now + self.limits.closingTime
        group.addTask {
          try? await Task.sleep(until: end, clock: .continuous)
          self.drained.send()
        }
        // A signal may be older than the last response.
        while self.connections.contains(where: \.isSending), .now < end {
          await self.drained.wait()
        }
        group.cancelAll()
      }
    }
  }

  /// - Returns: The connections. Those that are added later are stopped by ``add(_:)``.
  private func stopped() -> [ServerConnection] {
    state.withLock { state in
      state.isStopping = true
      return Array(state.connections.values)
    }
  }

  private var connections: [ServerConnection] {
    state.withLock { Array($0.connections.values) }
  }

  // MARK: On the thread of libmicrohttpd

  func add(_ connection: ServerConnection) {
    let isStopping = state.withLock { state in
      state.connections[ObjectIdentifier(connection)] = connection
      return state.isStopping
    }
    if isStopping { connection.stop() }
  }

  func remove(_ connection: ServerConnection) {
    _ = state.withLock { $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
    noteProgress()
  }

  /// A response was sent, or a connection has ended.
  func noteProgress() {
    guard state.withLock(\.isStopping) else { return }
    if !connections.contains(where: \.isSending) { drained.send() }
  }

  /// Hands a request to a task, or refuses it if the task of the server has been cancelled.
  func hand(over exchange: Exchange) {
    if case .terminated = exchanges.continuation.yield(exchange) {
      exchange.connection.abandonHandler()
    }
  }

  /// A connection has got a deadline.
  func noteDeadline(_ kind: ConnectionDeadline.Kind) { timers[kind]?.send() }

  // MARK: Deadlines

  /// Closes connections whose deadlines of a kind have passed. Without deadlines, it only waits.
  private func enforceDeadlines(_ kind: ConnectionDeadline.Kind) async {
    guard let signal = timers[kind] else { return }
    while await signal.wait() {
      // The deadline of the signal, and all later ones, are not before this.
      var next = ConnectionDeadline(kind, after: .now, limits: limits).instant
      repeat {
        guard (try? await Task.sleep(until: next, clock: .continuous)) != nil else { return }
        let now = ContinuousClock.now
        let rest = connections.compactMap { $0.checkDeadline(kind, at: now) }
        guard let first = rest.min() else { break }
        next = first
      } while true
    }
  }
}

/// Wakes one task. Signals without a waiting task are kept as one.
private struct Signal: Sendable {
  private let stream = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

  func send() { stream.continuation.yield() }

  /// - Returns: False if the task is cancelled.
  @discardableResult func wait() async -> Bool {
    var iterator = stream.stream.makeAsyncIterator()
    return await iterator.next() != nil
  }
}
