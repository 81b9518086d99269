internal import CompositeOperations
internal import Foundation

/// A request and its response, between the operation that uses them and the transport.
///
/// Both sides have a buffer of bounded size: a transport pauses a connection whose bytes are not
/// taken (back pressure).
package final class HTTPExchange: Sendable {
  package let request: HTTPTransportRequest
  private let transport: any HTTPTransport
  private let machine: Lock<StateMachine>

  init(_ request: HTTPTransportRequest, on transport: any HTTPTransport) {
    self.request = request
    self.transport = transport
    machine = Lock(StateMachine(request.body))
    transport.start(self)
  }

  // MARK: For the operation

  /// Whether the body may be compressed.
  var isEncoded: Bool { !transport.decompressesBodies }

  /// Waits for the head of the response.
  func head() async throws -> HTTPResponseHead {
    while true {
      switch machine.withLock({ $0.nextHead() }) {
      case .head(let head): return head
      case .error(let error): throw error
      case .wait: await wait(for: .head)
      }
    }
  }

  /// Waits for bytes of the body, as they were sent.
  ///
  /// - Returns: Nil at the end of a complete body.
  func next() async throws -> [UInt8]? {
    while true {
      switch machine.withLock({ $0.nextBytes() }) {
      case .bytes(let bytes, let wasPaused):
        if wasPaused { transport.update(self) }
        return bytes
      case .end: return nil
      case .error(let error): throw error
      case .wait: await wait(for: .bytes)
      }
    }
  }

  /// Waits until bytes of the request have been sent, or are needed.
  ///
  /// - Returns: Nil at the end of the request or of the exchange.
  func nextDemand() async -> Demand? {
    while true {
      switch machine.withLock({ $0.nextDemand() }) {
      case .demand(let demand): return demand
      case .end: return nil
      case .wait:
        await withCheckedContinuation { waiter in
          if machine.withLock({ $0.senderWaits(waiter) }) { waiter.resume() }
        }
      }
    }
  }

  /// Adds bytes to the body of the request; nil to end it.
  func add(_ bytes: [UInt8]?) {
    machine.withLock { $0.added(bytes) }
    transport.update(self)
  }

  /// Ends an exchange that its head has decided after 5 seconds, unless the task is cancelled
  /// before.
  func endLate() async {
    if hasEnded { return }
    do { try await Task.sleep(for: .seconds(5)) } catch { return }
    cancel()
  }

  /// Calls a function of the user, for whose requests the connection of this exchange does not
  /// become free.
  func whileHeld<Value>(
    _ body: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    try await HeldConnection.held(to: request.host, on: transport, during: body)
  }

  /// Ends the exchange. Has no effect if it has ended.
  func cancel(by error: any Error = CancellationError()) {
    if !machine.withLock({ $0.cancelled(by: error) }) { return }
    notify()
    transport.update(self)
  }

  /// Ends the exchange, and waits until the transport no longer uses it.
  func close() async {
    cancel()
    while !hasEnded { await wait(for: .end) }
  }

  private func wait(for event: StateMachine.Event) async {
    await withCheckedContinuation { waiter in
      if machine.withLock({ $0.receiverWaits(waiter, for: event) }) { waiter.resume() }
    }
  }

  /// What the body of a request needs.
  struct Demand: Sendable {
    /// How many bytes have been sent.
    let sentCount: Int
    /// Whether more bytes are needed.
    let needsBytes: Bool
  }

  // MARK: For transports

  /// Whether the exchange must end.
  package var isCancelled: Bool { machine.withLock { $0.isCancelled } }

  /// Whether ``end(_:)`` has been called.
  package var hasEnded: Bool { machine.withLock { $0.hasEnded } }

  /// The head of the response has been received.
  package func receive(_ head: HTTPResponseHead) { machine.withLock { $0.received(head) } }

  /// Bytes of the body have been received.
  ///
  /// - Returns: False if there is no room for them: then offer them again after an update.
  package func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    machine.withLock { unsafe $0.received(bytes) }
  }

  /// Takes bytes of the request to send.
  ///
  /// - Returns: How many bytes were copied to the buffer, 0 at the end of the body. Nil if there
  ///   are none yet: then try again after an update.
  package func takeBytes(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    machine.withLock { unsafe $0.taken(into: buffer) }
  }

  /// Bytes of the request that were not taken have been sent, because the transport reads the body
  /// from elsewhere.
  package func sent(_ count: Int) { machine.withLock { $0.sent(count) } }

  /// The exchange has ended, and the transport no longer uses it.
  ///
  /// - Parameter error: Nil if the response is complete.
  package func end(_ error: HTTPTransportError?) { machine.withLock { $0.ended(error) } }

  /// Resumes the tasks that wait for what has been reported since the last call.
  package func notify() {
    let (receiver, sender) = machine.withLock { $0.readyWaiters() }
    receiver?.resume()
    sender?.resume()
  }
}
