internal import CPostgres
internal import SystemSupport

extension PostgresConnection {
  /// Connects to a database, without waiting longer than the timeout.
  ///
  /// - Returns: A connection in pipeline mode that does not block.
  static func connect(
    to address: PostgresAddress, timeout: Duration
  ) throws(PostgresError) -> OpaquePointer {
    try address.check()
    guard let handle = unsafe start(address) else {
      throw .notConnected("out of memory", to: address)
    }
    do throws(PostgresError) {
      try unsafe finishConnecting(handle, to: address, timeout)
    } catch {
      unsafe PQfinish(handle)
      throw error
    }
    return unsafe handle
  }

  private static func start(_ address: PostgresAddress) -> OpaquePointer? {
    // Later options replace earlier ones, and so the options of the address.
    let options = [
      ("dbname", address.text), ("client_encoding", "UTF8"),
      ("fallback_application_name", "CompositeOperations"),
    ]
    return unsafe withCStrings(options.map(\.0)) { keys in
      unsafe withCStrings(options.map(\.1)) { values in
        unsafe PQconnectStartParams(keys, values, 1)
      }
    }
  }

  private static func finishConnecting(
    _ handle: OpaquePointer, to address: PostgresAddress, _ timeout: Duration
  ) throws(PostgresError) {
    // Without a receiver, libpq prints notices.
    unsafe PQsetNoticeReceiver(handle, { _, _ in }, nil)
    // The message of a failed attempt includes its code.
    unsafe PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
    let timeout = unsafe min(timeout.inNanoseconds, connectTimeout(of: handle) ?? .max)
    let (deadline, overflow) = MonotonicTime.now.addingReportingOverflow(timeout)
    var state = PGRES_POLLING_WRITING
    while unsafe PQstatus(handle) != CONNECTION_BAD {
      let events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT
      let rest = overflow ? Int64.max : deadline - MonotonicTime.now
      guard unsafe wait(for: events, of: PQsocket(handle), within: max(0, rest)) != 0 else {
        throw .notConnected(
          "no answer within \(Duration.nanoseconds(timeout).readable)", to: address)
      }
      state = unsafe PQconnectPoll(handle)
      if state == PGRES_POLLING_OK {
        unsafe PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
        guard unsafe PQsetnonblocking(handle, 1) == 0, unsafe PQenterPipelineMode(handle) == 1
        else { break }
        return
      }
      if state == PGRES_POLLING_FAILED { break }
    }
    throw .notConnected(
      unsafe PQerrorMessage(handle).map { unsafe String(cString: $0) } ?? "no message",
      to: address)
  }

  /// The option `connect_timeout` in nanoseconds, which libpq uses in blocking functions only.
  private static func connectTimeout(of handle: OpaquePointer) -> Int64? {
    let options = unsafe PQconninfo(handle)
    defer { unsafe PQconninfoFree(options) }
    var next = unsafe options
    while let option = unsafe next, let key = unsafe option.pointee.keyword {
      if unsafe String(cString: key) == "connect_timeout", let text = unsafe option.pointee.val,
        let seconds = unsafe Int64(String(cString: text)), seconds > 0
      {
        return Duration.seconds(seconds).inNanoseconds
      }
      unsafe next = option + 1
    }
    return nil
  }

  /// Calls a closure with the addresses of texts, terminated by null.
  private static func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
  ) -> Result {
    let bytes = texts.flatMap { Array($0.utf8CString) }
    return unsafe bytes.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      var addresses: [UnsafePointer<CChar>?] = unsafe []
      for text in texts {
        unsafe addresses.append(start)
        unsafe start = start.map { unsafe $0 + text.utf8.count + 1 }
      }
      unsafe addresses.append(nil)
      return unsafe addresses.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
    }
  }

  // MARK: Waiting

  /// Waits until bytes can be received or sent.
  ///
  /// - Returns: The events; 0 after the time.
  static func wait(for events: Int32, of socket: Int32, within nanoseconds: Int64) -> Int32 {
    let (deadline, overflow) = MonotonicTime.now.addingReportingOverflow(nanoseconds)
    var request = pollfd(fd: socket, events: Int16(events), revents: 0)
    while true {
      let rest = overflow ? Int64.max : max(0, deadline - MonotonicTime.now)
      let milliseconds = Int32(clamping: rest / 1_000_000 + (rest % 1_000_000 > 0 ? 1 : 0))
      let count = unsafe poll(&request, 1, milliseconds)
      if count > 0 { return Int32(request.revents) }
      // An error other than an interruption shows itself in the next call of libpq.
      if count < 0, errno != EINTR { return events }
      if rest == 0 { return 0 }
    }
  }

  func isReady(_ events: Int32, within nanoseconds: Int64) -> Bool {
    unsafe Self.wait(for: events, of: PQsocket(handle), within: nanoseconds) != 0
  }
}
