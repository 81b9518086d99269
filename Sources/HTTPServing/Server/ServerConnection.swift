internal import CMicrohttpd
internal import CompositeOperations
internal import SystemSupport

/// A connection of a client, used by the thread of libmicrohttpd and by the task of its request.
///
/// libmicrohttpd frees a connection only on its thread, and only if the connection is not
/// suspended. A connection is suspended and resumed under the lock of its state, and so at most
/// once: other threads use its address only while it is suspended, and its socket only until it is
/// closed. The functions of libmicrohttpd that are called under the lock call none of ours.
final class ServerConnection: Sendable {
  /// The address of the client, without the port.
  let peer: String

  private let knownUser = Lock<UInt32?>(nil)
  private let handle: ConnectionHandle
  private let socket: Int32
  private let noteDeadline: @Sendable (ConnectionDeadline.Kind) -> Void
  private let machine: Lock<StateMachine>

  init(
    _ handle: ConnectionHandle, limits: ServerLimits,
    noteDeadline: @escaping @Sendable (ConnectionDeadline.Kind) -> Void
  ) {
    self.handle = handle
    self.noteDeadline = noteDeadline
    peer = handle.peer
    socket = handle.socket
    machine = Lock(StateMachine(limits: limits, now: .now))
    noteDeadline(.request)
  }

  /// Sends an event to the machine, and has the deadline that it sets enforced.
  private func change<Result: Sendable>(_ body: (inout StateMachine) -> Result) -> Result {
    let (result, kind) = machine.withLock { machine in
      let result = body(&machine)
      return (result, machine.takeNewDeadline())
    }
    if let kind { noteDeadline(kind) }
    return result
  }

  // MARK: On the thread of libmicrohttpd

  /// The user of this machine who has the other end; nil if it is not known.
  var user: UInt32? {
    if let user = knownUser.withLock(\.self) { return user }
    let user = PeerUser.user(ofClientOf: socket)
    knownUser.withLock { $0 = user }
    return user
  }

  func received(target: [UInt8]) { change { $0.received(target: target) } }

  func nextStep() -> StateMachine.Step { change { $0.nextStep(now: .now) } }

  func received(_ head: RequestHead) { change { $0.received(head, now: .now) } }

  /// - Returns: False if the body is so large that the connection must be closed.
  func received(body bytes: UnsafeRawBufferPointer) -> Bool {
    change { unsafe $0.received(body: bytes) }
  }

  func takeUpload() -> StateMachine.Upload? { change { $0.takeUpload() } }

  /// The server sends a response without a handler.
  ///
  /// - Returns: Whether the connection must be closed after it.
  func willRespond() -> Bool { change { $0.willRespond(now: .now) } }

  /// Suspends the connection until there is a response.
  ///
  /// - Returns: The number of the request; nil if the server stops, and the connection is not
  ///   suspended.
  func suspendForHandler() -> Int? {
    change { machine in
      guard let number = machine.suspendForHandler() else { return nil }
      unsafe MHD_suspend_connection(handle.pointer)
      return number
    }
  }

  /// Stores bytes of the events. Suspends the connection if there are none.
  func readEvents(into buffer: UnsafeMutableRawBufferPointer) -> StateMachine.EventRead {
    // The client may have gone while the connection was suspended.
    let isGone = composite_http_is_gone(socket) != 0
    return change { machine in
      let read = unsafe machine.readEvents(into: buffer, isGone: isGone, now: .now)
      if read == .suspend { unsafe MHD_suspend_connection(handle.pointer) }
      return read
    }
  }

  /// The client has taken a part of a file, and the next one is sent.
  func willSendPart() { change { $0.willSendPart(now: .now) } }

  func completed() { change { $0.completed(now: .now) }.end?.finish() }

  func closed() { change { $0.closed() }.end?.finish() }

  // MARK: On other threads

  /// Sends a response, and opens the stream of its events, if it has any.
  ///
  /// - Parameter end: Finished when the stream has ended.
  func answer(
    _ response: HTTPResponse, nonce: String, end: AsyncStream<Void>.Continuation? = nil
  ) {
    resuming {
      $0.answered(StateMachine.Answer(response: response, nonce: nonce), end: end, now: .now)
    }
  }

  func send(_ event: EventMessage, in number: Int) -> Bool {
    change { machine in
      switch machine.send(event, in: number, now: .now) {
      case .ended: return false
      case .buffered: return true
      case .resume:
        unsafe MHD_resume_connection(handle.pointer)
        return true
      case .overfull:
        closeSocket()
        return false
      case .resumeOverfull:
        unsafe MHD_resume_connection(handle.pointer)
        closeSocket()
        return false
      }
    }
  }

  func sendHeartbeat(in number: Int) { resuming { $0.sendHeartbeat(in: number, now: .now) } }

  func finishEvents(in number: Int) { resuming { $0.finishEvents(in: number, now: .now) } }

  /// Ends the stream of events, and refuses further requests.
  func stop() { resuming { $0.stop(now: .now) } }

  /// Sends a response for a handler that was never called.
  func abandonHandler() {
    let response = HTTPResponse(.text, "The server stops.\n", status: 503)
    resuming { machine in
      let answer = StateMachine.Answer(response: response, nonce: "")
      return machine.answered(answer, end: nil, now: .now)
    }
  }

  private func resuming(_ body: (inout StateMachine) -> Bool) {
    change { machine in
      if body(&machine) { unsafe MHD_resume_connection(handle.pointer) }
    }
  }

  /// Whether a response is not sent completely.
  var isSending: Bool { machine.withLock(\.isSending) }

  /// Closes the connection if its deadline of a kind has passed.
  ///
  /// - Returns: The deadline, if it is of this kind and has not passed.
  func checkDeadline(
    _ kind: ConnectionDeadline.Kind, at now: ContinuousClock.Instant
  ) -> ContinuousClock.Instant? {
    machine.withLock { machine in
      guard let deadline = machine.deadline, deadline.kind == kind else { return nil }
      if deadline.instant > now { return deadline.instant }
      closeSocket()
      return nil
    }
  }

  /// Has the thread of libmicrohttpd close the connection.
  private func closeSocket() { _ = shutdown(socket, Int32(SHUT_RDWR)) }
}
