internal import CompositeOperations

extension HTTPExchange {
  typealias Waiter = CheckedContinuation<Void, Never>

  /// Tracks an exchange, its buffers and its waiters.
  struct StateMachine: Sendable {
    /// What a receiver waits for.
    enum Event: Sendable { case head, bytes, end }

    enum HeadAction: Sendable {
      case head(HTTPResponseHead)
      case error(any Error)
      case wait
    }

    enum BytesAction: Sendable {
      case bytes([UInt8], wasPaused: Bool)
      case end
      case error(any Error)
      case wait
    }

    enum DemandAction: Sendable {
      case demand(Demand)
      case end
      case wait
    }

    /// The transport pauses a connection with more bytes than this that were not taken.
    private static let incomingLimit = 1 << 20
    /// How many bytes are sent between two reports.
    private static let reportStep = 64 << 10

    private var head: HTTPResponseHead?
    private var incoming: [UInt8] = []
    private var isReceivingPaused = false
    private var receiver: (waiter: Waiter, event: Event)?

    private var outgoing: [UInt8] = []
    /// How many of the outgoing bytes have been taken.
    private var offset = 0
    private var isRequestComplete = true
    /// Whether the transport reads the body from elsewhere, and reports what it has sent.
    private var isSentElsewhere = false
    private var sentCount = 0
    private var reportedCount = 0
    private var sender: Waiter?

    private var cancellation: (any Error)?
    private var end: Result<Void, any Error>?

    init(_ body: HTTPTransportRequest.Body) {
      switch body {
      case .none: break
      case .bytes(let bytes): outgoing = bytes
      case .stream: isRequestComplete = false
      }
    }

    var isCancelled: Bool { cancellation != nil }
    var hasEnded: Bool { end != nil }

    // MARK: Receiving

    func nextHead() -> HeadAction {
      if let cancellation { return .error(cancellation) }
      if let head { return .head(head) }
      return switch end {
      case nil: .wait
      case .failure(let error): .error(error)
      case .success: .error(HTTPTransportError(.badAnswer, "there is no response"))
      }
    }

    mutating func nextBytes() -> BytesAction {
      if let cancellation { return .error(cancellation) }
      if !incoming.isEmpty {
        let wasPaused = exchange(&isReceivingPaused, with: false)
        return .bytes(exchange(&incoming, with: []), wasPaused: wasPaused)
      }
      return switch end {
      case nil: .wait
      case .failure(let error): .error(error)
      case .success: .end
      }
    }

    /// - Returns: Whether to resume the waiter at once.
    mutating func receiverWaits(_ waiter: Waiter, for event: Event) -> Bool {
      if isReady(event) { return true }
      receiver = (waiter, event)
      return false
    }

    private func isReady(_ event: Event) -> Bool {
      if end != nil { return true }
      return switch event {
      case .head: head != nil || isCancelled
      case .bytes: !incoming.isEmpty || isCancelled
      case .end: false
      }
    }

    mutating func received(_ head: HTTPResponseHead) { self.head = head }

    mutating func received(_ bytes: UnsafeRawBufferPointer) -> Bool {
      if incoming.count >= Self.incomingLimit {
        isReceivingPaused = true
        return false
      }
      unsafe incoming.append(contentsOf: bytes)
      return true
    }

    // MARK: Sending

    private var needsBytes: Bool { end == nil && !isRequestComplete && offset == outgoing.count }

    mutating func nextDemand() -> DemandAction {
      if isCancelled, end == nil { return .end }
      let isSent = end != nil || offset == outgoing.count
      let isDue = sentCount - reportedCount >= (isSent ? 1 : Self.reportStep)
      if needsBytes || isDue {
        reportedCount = sentCount
        return .demand(Demand(sentCount: sentCount, needsBytes: needsBytes))
      }
      return end != nil || isRequestComplete && isSent && !isSentElsewhere ? .end : .wait
    }

    /// - Returns: Whether to resume the waiter at once.
    mutating func senderWaits(_ waiter: Waiter) -> Bool {
      if isSenderReady { return true }
      sender = waiter
      return false
    }

    private var isSenderReady: Bool {
      end != nil || isCancelled || offset == outgoing.count && !isSentElsewhere
        || sentCount - reportedCount >= Self.reportStep
    }

    mutating func added(_ bytes: [UInt8]?) {
      if let bytes {
        (outgoing, offset) = (bytes, 0)
      } else {
        isRequestComplete = true
      }
    }

    mutating func taken(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
      let count = min(buffer.count, outgoing.count - offset)
      if count == 0 { return isRequestComplete ? 0 : nil }
      unsafe outgoing.withUnsafeBytes { bytes in
        unsafe buffer.copyMemory(
          from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
      }
      offset += count
      sentCount += count
      return count
    }

    mutating func sent(_ count: Int) {
      isRequestComplete = true
      isSentElsewhere = true
      (outgoing, offset) = ([], 0)
      sentCount += count
    }

    // MARK: Ending

    /// - Returns: Whether to tell the transport.
    mutating func cancelled(by error: any Error) -> Bool {
      // The bytes that have arrived are not used after a cancellation. A late error of the sender
      // has no effect.
      if isCancelled || end != nil && !(error is CancellationError) { return false }
      cancellation = error
      return end == nil
    }

    mutating func ended(_ error: HTTPTransportError?) {
      end = error.map { .failure($0) } ?? .success(())
    }

    mutating func readyWaiters() -> (receiver: Waiter?, sender: Waiter?) {
      var ready: (receiver: Waiter?, sender: Waiter?)
      if let (waiter, event) = receiver, isReady(event) {
        ready.receiver = waiter
        receiver = nil
      }
      if isSenderReady { ready.sender = sender.take() }
      return ready
    }
  }
}
