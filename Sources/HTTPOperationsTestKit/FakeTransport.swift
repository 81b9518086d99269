internal import CompositeOperations
internal import Foundation
internal import HTTPOperations

/// A transport without a network.
final class FakeTransport: HTTPTransport {
  private struct State: Sendable {
    /// The exchanges that have not ended.
    var running: [ObjectIdentifier: FakeExchange] = [:]
    var requests: [FakeHTTPServer.Request] = []
  }

  let decompressesBodies = true
  private let answer: @Sendable (FakeHTTPServer.Request) -> FakeHTTPServer.Answer
  private let state = Lock(State())

  init(_ answer: @escaping @Sendable (FakeHTTPServer.Request) -> FakeHTTPServer.Answer) {
    self.answer = answer
  }

  var requests: [FakeHTTPServer.Request] { state.withLock { $0.requests } }

  func start(_ exchange: HTTPExchange) {
    let running = FakeExchange(exchange) { request in
      self.state.withLock { $0.requests.append(request) }
      return self.answer(request)
    }
    state.withLock { $0.running[ObjectIdentifier(exchange)] = running }
    update(exchange)
  }

  func update(_ exchange: HTTPExchange) {
    let id = ObjectIdentifier(exchange)
    guard let running = state.withLock({ $0.running[id] }), running.update() else { return }
    // Freed outside the lock.
    _ = state.withLock { $0.running.removeValue(forKey: id) }
  }
}

/// An exchange with a fake server.
final class FakeExchange: Sendable {
  private struct State: Sendable {
    /// How many updates have not been performed. One thread performs all of them.
    var updateCount = 0
    var body = Data()
    var answer: FakeHTTPServer.Answer?
    /// The parts of the response that have not been accepted.
    var parts: ArraySlice<[UInt8]> = []
    var hasEnded = false
  }

  private let exchange: HTTPExchange
  private let answer: @Sendable (FakeHTTPServer.Request) -> FakeHTTPServer.Answer
  private let state = Lock(State())

  init(
    _ exchange: HTTPExchange,
    answer: @escaping @Sendable (FakeHTTPServer.Request) -> FakeHTTPServer.Answer
  ) {
    self.exchange = exchange
    self.answer = answer
  }

  /// - Returns: Whether the exchange has ended.
  func update() -> Bool {
    var isAnother = state.withLock { state in
      state.updateCount += 1
      return state.updateCount > 1
    }
    while !isAnother {
      if !state.withLock({ $0.hasEnded }) { step() }
      exchange.notify()
      isAnother = state.withLock { state in
        state.updateCount -= 1
        return state.updateCount == 0
      }
    }
    return state.withLock { $0.hasEnded }
  }

  private func step() {
    if exchange.isCancelled { return end(HTTPTransportError(.other(code: 0))) }
    if state.withLock({ $0.answer == nil }) {
      // More of the body follows in another update.
      guard receiveBody() else { return }
      reply()
    }
    deliver()
  }

  /// - Returns: Whether the body of the request is complete.
  private func receiveBody() -> Bool {
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = unsafe chunk.withUnsafeMutableBytes { unsafe exchange.takeBytes(into: $0) }
      guard let count else { return false }
      if count == 0 { return true }
      state.withLock { $0.body += chunk[..<count] }
    }
  }

  private func reply() {
    let content = exchange.request
    let answer = answer(
      FakeHTTPServer.Request(
        url: content.url, method: content.method, headers: content.headers,
        body: state.withLock { $0.body }))
    state.withLock { $0.answer = answer }
    switch answer.kind {
    case .response(let status, let headers, let body):
      exchange.receive(HTTPResponseHead(url: content.url, status: status, headers: headers))
      if content.method != "HEAD" { state.withLock { $0.parts = body[...] } }
    case .failure(let reason, let wasSent): end(HTTPTransportError(reason, wasSent: wasSent))
    case .never: break
    }
  }

  private func deliver() {
    guard let answer = state.withLock({ $0.answer }), case .response = answer.kind else { return }
    while let part = state.withLock({ $0.parts.first }) {
      guard unsafe part.withUnsafeBytes({ unsafe exchange.receive($0) }) else { return }
      state.withLock { $0.parts = $0.parts.dropFirst() }
    }
    end(answer.interruption.map { HTTPTransportError($0) })
  }

  private func end(_ error: HTTPTransportError?) {
    if state.withLock({ Swift.exchange(&$0.hasEnded, with: true) }) { return }
    exchange.end(error)
  }
}
