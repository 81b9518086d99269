#if !canImport(Darwin)
  internal import CCurl
  internal import CompositeOperations
  internal import Foundation
  internal import SystemSupport

  /// The transfers of a transport. Only its thread uses them.
  ///
  /// It limits the running transfers of each host itself: of those that libcurl lets wait, some of
  /// one host may never begin because others of another host wait.
  final class CurlTransfers {
    private let multi: CurlMulti
    private let settings: CurlSettings
    private let limit: Int
    /// How long requests wait at most while none of their host begins, in nanoseconds.
    private let longestWait: Int64
    private var transfers: [ObjectIdentifier: CurlTransfer] = [:]
    private var hosts: [String: Host] = [:]
    private let news = CurlNews()
    /// The cookies of the session; nil if it ignores them.
    private let cookies: CurlCookies?
    /// The time at which the deadlines are checked next, in nanoseconds. The deadline of a transfer
    /// that is not resumed moves only to later times, or is reported, so no check is missed.
    private var nextCheck = Int64.max

    init(on multi: CurlMulti, _ configuration: HTTPConfiguration) {
      self.multi = multi
      settings = CurlSettings(configuration)
      limit = configuration.connectionsPerHost
      cookies = configuration.keepsCookies ? CurlCookies() : nil
      // Sums of times do not overflow.
      longestWait = min(configuration.connectionWait.inNanoseconds, .max / 4)
    }

    /// How long others wait for a transfer that opens a connection, in nanoseconds.
    private static let openingTime: Int64 = 1_000_000_000

    private struct Host {
      var runningCount = 0
      /// Some of them may have ended.
      var waiting = FIFOQueue<(exchange: HTTPExchange, since: Int64)>()
      /// The time at which the last request began, in nanoseconds.
      var lastBegin = Int64.min
      /// The transfer that may open a connection, while its request is not sent yet. Others wait
      /// for it for a limited time, because they may use the same connection of HTTP/2.
      var opener: (transfer: ObjectIdentifier, deadline: Int64)?
      /// Whether the last request was sent with a version before HTTP/2, or has not connected in
      /// time.
      var needsManyConnections = false
    }

    func start(_ exchange: HTTPExchange) {
      if let problem = settings.problem {
        exchange.end(HTTPTransportError(configuration: problem))
        news.add(exchange)
        return
      }
      let host = exchange.request.host
      hosts[host, default: Host()].waiting.append((exchange, MonotonicTime.now))
      beginNext(of: host)
    }

    private func begin(_ exchange: HTTPExchange) {
      let host = exchange.request.host
      hosts[host]?.runningCount += 1
      hosts[host]?.lastBegin = MonotonicTime.now
      if settings.mayShareConnection(exchange.request), hosts[host]?.needsManyConnections == false {
        let deadline = MonotonicTime.now + Self.openingTime
        hosts[host]?.opener = (ObjectIdentifier(exchange), deadline)
        nextCheck = min(nextCheck, deadline)
      }
      let transfer = CurlTransfer(exchange, settings, news, cookies)
      transfers[ObjectIdentifier(exchange)] = transfer
      let code = unsafe curl_multi_add_handle(multi.handle, transfer.handle)
      if code != CURLM_OK { return end(transfer, CURLE_OUT_OF_MEMORY) }
      nextCheck = min(nextCheck, transfer.deadline)
    }

    /// Begins the next transfers of a host, as far as its limit permits.
    private func beginNext(of host: String) {
      while let state = hosts[host], state.runningCount < limit, state.opener == nil,
        let next = hosts[host]?.waiting.popFirst()
      {
        if !next.exchange.hasEnded { begin(next.exchange) }
      }
      if let deadline = waitDeadline(of: host) { nextCheck = min(nextCheck, deadline) }
      if hosts[host]?.runningCount == 0 { hosts[host] = nil }
    }

    /// The time at which the first waiting request of a host has waited too long; nil if there is
    /// none, or if it waits only for another request, which opens a connection.
    ///
    /// As long as others begin, the time does not count: a queue that moves is only long.
    private func waitDeadline(of host: String) -> Int64? {
      guard hosts[host]?.runningCount == limit, let first = hosts[host]?.waiting.first else {
        return nil
      }
      return max(first.since, hosts[host]?.lastBegin ?? 0) + longestWait
    }

    /// Ends the requests of a host that have waited too long.
    private func endWaiting(of host: String, at now: Int64) {
      while let deadline = waitDeadline(of: host) {
        if deadline > now {
          nextCheck = min(nextCheck, deadline)
          return
        }
        guard let exchange = hosts[host]?.waiting.popFirst()?.exchange, !exchange.hasEnded else {
          continue
        }
        let time = Duration.nanoseconds(longestWait).readableTime
        exchange.end(
          HTTPTransportError(
            .connectionsInUse, "none of its \(limit) requests ended within \(time)", wasSent: false)
        )
        news.add(exchange)
      }
    }

    /// A transfer of a host has opened its connection, or found one, or could not.
    private func endOpening(_ transfer: CurlTransfer, needsManyConnections: Bool?) {
      let host = transfer.exchange.request.host
      guard hosts[host]?.opener?.transfer == ObjectIdentifier(transfer.exchange) else { return }
      hosts[host]?.opener = nil
      if let needsManyConnections { hosts[host]?.needsManyConnections = needsManyConnections }
    }

    func update(_ exchange: HTTPExchange) {
      guard let transfer = transfers[ObjectIdentifier(exchange)] else {
        // It waits, or has ended.
        if exchange.isCancelled, !exchange.hasEnded {
          exchange.end(HTTPTransportError(.other(code: 0), wasSent: false))
          news.add(exchange)
        }
        return
      }
      if exchange.isCancelled {
        end(transfer, CURLE_ABORTED_BY_CALLBACK)
      } else {
        resume(transfer)
      }
    }

    private func resume(_ transfer: CurlTransfer) {
      let code = transfer.resume()
      if code != CURLE_OK { return end(transfer, code) }
      // A paused transfer has no deadline.
      nextCheck = min(nextCheck, transfer.deadline)
    }

    /// Sends and receives what is possible without waiting.
    func perform() {
      multi.perform()
      nextCheck = min(nextCheck, news.takenDeadline())
      for transfer in news.takenStarts() {
        let host = transfer.exchange.request.host
        endOpening(transfer, needsManyConnections: nil)
        // Even if the others no longer wait for it.
        hosts[host]?.needsManyConnections = !transfer.isOnHTTP2
        beginNext(of: host)
      }
      for transfer in news.takenAnswers() {
        resume(transfer)
        nextCheck = min(nextCheck, MonotonicTime.now + CurlTransfer.answerInterval)
      }
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
      // It may have ended in the same round.
      if transfers.removeValue(forKey: ObjectIdentifier(transfer.exchange)) == nil { return }
      unsafe curl_multi_remove_handle(multi.handle, transfer.handle)
      transfer.end(result)
      // The next one may connect, but not one after the other until each has timed out.
      endOpening(transfer, needsManyConnections: transfer.exchange.isCancelled ? nil : true)
      hosts[transfer.exchange.request.host]?.runningCount -= 1
      beginNext(of: transfer.exchange.request.host)
    }

    private func checkDeadlines() {
      if nextCheck == .max || MonotonicTime.now < nextCheck { return }
      let now = MonotonicTime.now
      nextCheck = .max
      for (host, state) in hosts {
        guard let opener = state.opener else { continue }
        if opener.deadline > now {
          nextCheck = min(nextCheck, opener.deadline)
        } else {
          // Its server may not answer until its timeout, which is not the timeout of the others.
          hosts[host]?.opener = nil
          hosts[host]?.needsManyConnections = true
          beginNext(of: host)
        }
      }
      for host in Array(hosts.keys) { endWaiting(of: host, at: now) }
      for transfer in transfers.values {
        if transfer.deadline > now {
          nextCheck = min(nextCheck, transfer.deadline)
        } else if transfer.isAnswered {
          resume(transfer)
          nextCheck = min(nextCheck, now + CurlTransfer.answerInterval)
        } else {
          end(transfer, CURLE_OPERATION_TIMEDOUT)
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
  /// It takes longer to resume a task than to receive a few kilobytes. So the users are not
  /// notified of each part of a body, but of many parts that arrive one after another.
  final class CurlNews {
    /// How many bytes are received at most until the users are notified.
    private static let byteLimit = 256 << 10
    /// How often bytes are received at most until the users are notified.
    private static let roundLimit = 64

    /// The sockets by the ports of the client. Some of them may be closed.
    var sockets: [Int32: curl_socket_t] = [:]
    /// The connections that running transfers use.
    let connections = CurlConnections()
    /// The transfers that have received a response while they wait for the user's bytes.
    private var answered: [CurlTransfer] = []
    /// The transfers whose requests are sent, if their connections may be of HTTP/2.
    private var started: [CurlTransfer] = []
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

    func add(answered transfer: CurlTransfer) {
      if answered.last !== transfer { answered.append(transfer) }
    }

    /// The first of the deadlines that transfers have got, in nanoseconds.
    private var deadline = Int64.max

    func add(deadline: Int64) { self.deadline = min(self.deadline, deadline) }

    func takenDeadline() -> Int64 { exchange(&deadline, with: .max) }

    func add(started transfer: CurlTransfer) { started.append(transfer) }

    func takenStarts() -> [CurlTransfer] { exchange(&started, with: []) }

    func takenAnswers() -> [CurlTransfer] { exchange(&answered, with: []) }

    func taken() -> [HTTPExchange] {
      (byteCount, roundCount, isUrgent) = (0, 0, false)
      return exchange(&exchanges, with: [])
    }
  }
#endif
