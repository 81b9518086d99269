internal import CPostgres
internal import SystemSupport

/// Notifications of the server, after a `LISTEN`.
extension PostgresConnection {
  /// Waits until the server has sent a notification.
  ///
  /// - Returns: The payloads of the notifications; none after the time.
  /// - Throws: A ``PostgresError`` if the connection is lost.
  func notifications(within time: Duration) throws(PostgresError) -> [String] {
    let deadline = MonotonicTime.now + time.inNanoseconds
    while true {
      var payloads: [String] = []
      while let notification = unsafe PQnotifies(handle) {
        unsafe payloads.append(
          notification.pointee.extra.map { unsafe String(cString: $0) } ?? "")
        unsafe PQfreemem(notification)
      }
      if !payloads.isEmpty { return payloads }
      guard isReady(POLLIN, within: max(0, deadline - MonotonicTime.now)) else { return [] }
      if unsafe PQconsumeInput(handle) == 0 {
        isBroken = true
        throw .lost(
          "wait for notifications",
          unsafe PQerrorMessage(handle).map { unsafe String(cString: $0) } ?? "no message")
      }
    }
  }
}
