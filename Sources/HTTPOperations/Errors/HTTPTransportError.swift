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
  /// The address of the proxy that failed; nil if it was not the proxy.
  let proxy: String?
  /// The advice, if that depends on more than the reason.
  let advice: String?
  /// The limit of time that was exceeded.
  var timeout: HTTPTransferError.Timeout?

  package init(
    _ reason: HTTPTransferError.Reason, _ message: String = "", wasSent: Bool = true,
    wasIdle: Bool = false, wasRefused: Bool = false
  ) {
    self.init(
      reason, message, wasSent: wasSent, wasIdle: wasIdle, wasRefused: wasRefused, proxy: nil,
      advice: nil)
  }

  init(
    _ reason: HTTPTransferError.Reason, _ message: String, wasSent: Bool = true,
    wasIdle: Bool = false, wasRefused: Bool = false, proxy: String? = nil, advice: String? = nil
  ) {
    self.reason = reason
    self.message = message
    self.wasSent = wasSent
    self.wasIdle = wasIdle
    self.wasRefused = wasRefused
    self.proxy = proxy
    self.advice = advice
  }

  /// The error of a session that cannot send a request.
  init(configuration problem: String) {
    self.init(
      .badRequest(problem), "", wasSent: false, advice: "Change the configuration of the session.")
  }

  /// The error of a transfer that has exceeded a limit of time.
  init(_ timeout: HTTPTransferError.Timeout, wasSent: Bool, proxy: String?) {
    self.init(
      .timedOut, timeout.description, wasSent: wasSent, proxy: proxy, advice: timeout.advice)
    self.timeout = timeout
  }

  /// The advice about a body that is whole, but not as the server describes it.
  static let lenientAdvice =
    "Report this to the operator of the server, or set bodyDecoding of the options to lenient."
}
