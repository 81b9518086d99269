#if !canImport(Darwin)
  internal import CCurl
  internal import SystemSupport

  /// The running transfers of a transport. Only its thread uses them.
  final class CurlTransfers {
    private let multi: CurlMulti
    private let settings: CurlSettings
    private var transfers: [ObjectIdentifier: CurlTransfer] = [:]
    private let news = CurlNews()
    /// The time at which the deadlines are checked next, in nanoseconds. Deadlines move only to
    /// later times, so no check is missed.
    private var nextCheck = Int64.max

    init(on multi: CurlMulti, _ configuration: HTTPConfiguration) {
      self.multi = multi
      settings = CurlSettings(configuration)
    }

    func start(_ exchange: HTTPExchange) {
      let transfer = CurlTransfer(exchange, settings, news)
      transfers[ObjectIdentifier(exchange)] = transfer
      unsafe curl_multi_add_handle(multi.handle, transfer.handle)
      nextCheck = min(nextCheck, MonotonicTime.now + transfer.timeout)
    }

    func update(_ exchange: HTTPExchange) {
      guard let transfer = transfers[ObjectIdentifier(exchange)] else { return }
      if exchange.isCancelled {
        end(transfer, CURLE_ABORTED_BY_CALLBACK)
      } else {
        transfer.resume()
      }
    }

    /// Sends and receives what is possible without waiting.
    func perform() {
      multi.perform()
      var result = CURLE_OK
      while let handle = unsafe composite_curl_next_end(multi.handle, &result) {
        if let transfer = unsafe CurlTransfer.of(handle) { end(transfer, result) }
      }
      checkDeadlines()
      news.endRound()
    }

    /// Whether users have to be notified, but should not be as long as more bytes can be received
    /// without waiting.
    var holdsNews: Bool { news.isHeld }

    func notify() { for exchange in news.taken() { exchange.notify() } }

    private func end(_ transfer: CurlTransfer, _ result: CURLcode) {
      transfers[ObjectIdentifier(transfer.exchange)] = nil
      unsafe curl_multi_remove_handle(multi.handle, transfer.handle)
      transfer.end(result)
    }

    private func checkDeadlines() {
      if nextCheck == .max || MonotonicTime.now < nextCheck { return }
      let now = MonotonicTime.now
      nextCheck = .max
      for transfer in transfers.values {
        // A waiting transfer may begin at any time.
        let deadline = transfer.deadline ?? now + transfer.timeout
        if deadline <= now {
          end(transfer, CURLE_OPERATION_TIMEDOUT)
        } else {
          nextCheck = min(nextCheck, deadline)
        }
      }
    }

    /// The time until the next check, in milliseconds.
    var timeToDeadline: Int32 {
      if nextCheck == .max { return 3_600_000 }
      return Int32(min(max((nextCheck - MonotonicTime.now) / 1_000_000 + 1, 0), 3_600_000))
    }
  }

  /// What the callbacks of transfers report: the exchanges whose users may have to be notified, and
  /// the sockets of connections.
  ///
  /// It takes longer to resume a task than to receive a few kilobytes. So the users are not notified
  /// of each part of a body, but of many parts that arrive one after another.
  final class CurlNews {
    /// How many bytes are received at most until the users are notified.
    private static let byteLimit = 256 << 10
    /// How often bytes are received at most until the users are notified.
    private static let roundLimit = 64

    /// The sockets by the ports of the client. Some of them may be closed.
    var sockets: [Int32: curl_socket_t] = [:]
    private var exchanges: [HTTPExchange] = []
    private var byteCount = 0
    private var roundCount = 0
    private var isUrgent = false

    /// Whether there are only parts of bodies, below the limits.
    var isHeld: Bool {
      !isUrgent && byteCount > 0 && byteCount < Self.byteLimit && roundCount < Self.roundLimit
    }

    func add(_ exchange: HTTPExchange) {
      isUrgent = true
      append(exchange)
    }

    /// - Parameter count: How many bytes of a body have been received.
    func add(_ exchange: HTTPExchange, receiving count: Int) {
      byteCount += count
      append(exchange)
    }

    func endRound() { roundCount += byteCount > 0 ? 1 : 0 }

    private func append(_ exchange: HTTPExchange) {
      if exchanges.last !== exchange { exchanges.append(exchange) }
    }

    func taken() -> [HTTPExchange] {
      (byteCount, roundCount, isUrgent) = (0, 0, false)
      return exchange(&exchanges, with: [])
    }
  }
#endif
