/// The error of a transport, without the request.
package struct HTTPTransportError: Error {
  package let reason: HTTPTransferError.Reason
  /// The message of the system; may be empty.
  package let message: String
  /// Whether the server may have received the request.
  package let wasSent: Bool
  /// Whether the connection was an idle one, and the server closed it before it responded.
  package let wasIdle: Bool

  package init(
    _ reason: HTTPTransferError.Reason, _ message: String = "", wasSent: Bool = true,
    wasIdle: Bool = false
  ) {
    self.reason = reason
    self.message = message
    self.wasSent = wasSent
    self.wasIdle = wasIdle
  }
}
