/// The error of a transport, without the request.
package struct HTTPTransportError: Error {
  package let reason: HTTPTransferError.Reason
  /// The message of the system; may be empty.
  package let message: String
  /// Whether the server may have processed the request.
  package let wasSent: Bool
  /// Whether the connection was an idle one, and the server closed it before it responded.
  package let wasIdle: Bool
  /// Whether the server guarantees that it has not processed the request and never will.
  package let wasRefused: Bool

  package init(
    _ reason: HTTPTransferError.Reason, _ message: String = "", wasSent: Bool = true,
    wasIdle: Bool = false, wasRefused: Bool = false
  ) {
    self.reason = reason
    self.message = message
    self.wasSent = wasSent
    self.wasIdle = wasIdle
    self.wasRefused = wasRefused
  }
}
