extension ServerConnection {
  /// Tracks the request of a connection.
  struct StateMachine: Sendable {
    struct Answer: Sendable {
      let response: HTTPResponse
      let nonce: String
      /// Whether the connection is closed after it.
      var isLast = false
    }

    /// A request whose body is complete.
    struct Upload: Sendable {
      let head: RequestHead
      let body: [UInt8]
      let isTooLarge: Bool
    }

    /// The next action of the thread of libmicrohttpd for a request.
    enum Step: Sendable {
      case checkHead(target: [UInt8])
      case readBody
      case send(Answer)
      case close
    }

    /// Values of a request that has ended. They are released without the lock.
    struct Remains: Sendable {
      let end: AsyncStream<Void>.Continuation?
      var answer: Answer?
    }

    enum EventRead: Sendable, Equatable {
      case bytes(Int)
      case suspend
      case end
      case failure
    }

    enum Sending: Sendable {
      case ended, buffered, resume
      /// The client reads too slowly, and the connection must be closed.
      case overfull, resumeOverfull
    }

    private enum Phase: Sendable {
      /// Between two requests.
      case idle
      case receivedTarget([UInt8])
      case receivingBody(RequestHead, [UInt8], count: Int)
      /// The connection is not suspended, and the request has no handler yet.
      case checking
      /// The connection is suspended.
      case handling
      case answered(Answer)
      case sending
      case streaming
      case closed
    }

    private struct Stream: Sendable {
      var buffer: EventBuffer
      var end: AsyncStream<Void>.Continuation?
      var isSuspended = false
      var isFinished = false
      var isOverfull = false
    }

    private let limits: ServerLimits
    private var phase = Phase.idle
    private var stream: Stream?
    private var number = 0
    private var isStopping = false
    private var newDeadline: ConnectionDeadline.Kind?
    private(set) var deadline: ConnectionDeadline?

    init(limits: ServerLimits, now: ContinuousClock.Instant) {
      self.limits = limits
      set(.request, now)
    }

    var isSending: Bool {
      switch phase {
      case .answered, .sending, .streaming: true
      case .idle, .receivedTarget, .receivingBody, .checking, .handling, .closed: false
      }
    }

    private mutating func set(_ kind: ConnectionDeadline.Kind, _ now: ContinuousClock.Instant) {
      deadline = ConnectionDeadline(kind, after: now, limits: limits)
      newDeadline = kind
    }

    /// - Returns: The kind of the deadline that was set since the last call.
    mutating func takeNewDeadline() -> ConnectionDeadline.Kind? {
      defer { newDeadline = nil }
      return newDeadline
    }
  }
}

// MARK: Requests

extension ServerConnection.StateMachine {
  mutating func received(target: [UInt8]) {
    number += 1
    phase = .receivedTarget(target)
  }

  mutating func nextStep(now: ContinuousClock.Instant) -> Step {
    switch phase {
    case .receivedTarget(let target): return .checkHead(target: target)
    case .receivingBody: return .readBody
    case .answered(var answer):
      phase = stream == nil ? .sending : .streaming
      set(.response, now)
      answer.isLast = isStopping || stream != nil
      return .send(answer)
    case .idle, .checking, .handling, .sending, .streaming, .closed: return .close
    }
  }

  mutating func received(_ head: RequestHead, now: ContinuousClock.Instant) {
    phase = .receivingBody(head, [], count: 0)
    set(.request, now)
  }

  /// - Returns: False if the body is so large that the connection must be closed.
  mutating func received(body bytes: UnsafeRawBufferPointer) -> Bool {
    guard case .receivingBody(let head, var body, var count) = phase else { return false }
    // The array would be copied otherwise.
    phase = .checking
    count += bytes.count
    // Some bytes beyond the limit are read, because a client that is still sending would not read
    // the response.
    if count <= limits.bodySize { unsafe body.append(contentsOf: bytes) } else { body = [] }
    phase = .receivingBody(head, body, count: count)
    return count <= 4 * limits.bodySize
  }

  mutating func takeUpload() -> Upload? {
    guard case .receivingBody(let head, let body, let count) = phase else { return nil }
    phase = .checking
    deadline = nil
    return Upload(head: head, body: body, isTooLarge: count > limits.bodySize)
  }

  /// - Returns: Whether the connection must be closed after the response.
  mutating func willRespond(now: ContinuousClock.Instant) -> Bool {
    phase = .sending
    set(.response, now)
    return isStopping
  }

  mutating func willSendPart(now: ContinuousClock.Instant) {
    guard case .sending = phase, let deadline else { return }
    // Not for every part, because a new deadline wakes a task.
    let next = ConnectionDeadline(.response, after: now, limits: limits)
    if next.instant - deadline.instant >= limits.responseTime / 4 { set(.response, now) }
  }

  /// - Returns: The number of the request, if the connection must be suspended.
  mutating func suspendForHandler() -> Int? {
    guard case .checking = phase, !isStopping else { return nil }
    phase = .handling
    return number
  }

  /// - Returns: Whether the connection must be resumed.
  mutating func answered(
    _ answer: Answer, end: AsyncStream<Void>.Continuation?, now: ContinuousClock.Instant
  ) -> Bool {
    guard case .handling = phase else { return false }
    phase = .answered(answer)
    if let end {
      stream = Stream(buffer: EventBuffer(limit: limits.eventSize), end: end)
      stream?.isFinished = isStopping
    }
    return true
  }

  mutating func completed(now: ContinuousClock.Instant) -> Remains {
    defer { set(.idle, now) }
    return end(in: .idle)
  }

  mutating func closed() -> Remains {
    deadline = nil
    return end(in: .closed)
  }

  private mutating func end(in next: Phase) -> Remains {
    defer { (phase, stream) = (next, nil) }
    guard case .answered(let answer) = phase else { return Remains(end: stream?.end) }
    return Remains(end: stream?.end, answer: answer)
  }
}

// MARK: Streams of events

extension ServerConnection.StateMachine {
  mutating func readEvents(
    into buffer: UnsafeMutableRawBufferPointer, isGone: Bool, now: ContinuousClock.Instant
  ) -> EventRead {
    guard var current = stream else { return .failure }
    // An end, and no failure: libmicrohttpd 0.9.75 closes a resumed connection that fails only when
    // something else wakes its thread. The connection is closed after the end, too.
    if isGone || current.isOverfull { return .end }
    // The buffer would be copied otherwise.
    stream = nil
    defer { stream = current }
    let count = unsafe current.buffer.read(into: buffer)
    if count > 0 {
      set(.response, now)
      return .bytes(count)
    }
    if current.isFinished { return .end }
    current.isSuspended = true
    deadline = nil
    return .suspend
  }

  mutating func send(
    _ event: EventMessage, in number: Int, now: ContinuousClock.Instant
  ) -> Sending {
    guard number == self.number, stream?.isFinished == false, stream?.isOverfull == false else {
      return .ended
    }
    let isFull = stream?.buffer.append(event) == false
    if isFull { stream?.isOverfull = true }
    if resume(now) { return isFull ? .resumeOverfull : .resume }
    return isFull ? .overfull : .buffered
  }

  /// - Returns: Whether the connection must be resumed.
  mutating func sendHeartbeat(in number: Int, now: ContinuousClock.Instant) -> Bool {
    guard number == self.number, stream != nil else { return false }
    stream?.buffer.appendHeartbeat()
    return resume(now)
  }

  /// - Returns: Whether the connection must be resumed.
  mutating func finishEvents(in number: Int, now: ContinuousClock.Instant) -> Bool {
    guard number == self.number, stream != nil else { return false }
    stream?.isFinished = true
    return resume(now)
  }

  /// - Returns: Whether the connection must be resumed.
  mutating func stop(now: ContinuousClock.Instant) -> Bool {
    isStopping = true
    stream?.isFinished = true
    return resume(now)
  }

  private mutating func resume(_ now: ContinuousClock.Instant) -> Bool {
    guard stream?.isSuspended == true else { return false }
    stream?.isSuspended = false
    set(.response, now)
    return true
  }
}
