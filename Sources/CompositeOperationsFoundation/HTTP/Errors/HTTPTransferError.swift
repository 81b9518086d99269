/// A request was not answered, or its answer not to the end.
public struct HTTPTransferError: HTTPRequestError {
  /// What went wrong.
  public enum Reason: Sendable, Hashable {
    /// No address was found for the name of the host.
    case hostNotFound
    /// The host is not there, or nobody listens at its port.
    case cannotConnect
    /// There is no network.
    case offline
    /// Nothing was heard for as long as the request waits.
    case timedOut
    /// The connection ended before the answer did.
    case connectionLost
    /// The body is shorter than the server said, in bytes.
    case incompleteBody(received: Int, expected: Int)
    /// The certificate of the server is not trusted, not of this host, or out of date.
    case certificateRefused
    /// The connection could not be made secure.
    case notSecure
    /// The answer is not HTTP, or not as HTTP has it.
    case badAnswer
    /// The request cannot be made, because of what is said here.
    case badRequest(String)
    /// Something else; with the code of the `URLError`.
    case other(code: Int)
  }

  public let request: HTTPRequestSummary
  public let reason: Reason
  /// What the system says about it; may be empty.
  public let message: String

  /// Whether the next attempt may go better.
  public var isTransient: Bool {
    switch reason {
    case .hostNotFound, .cannotConnect, .offline, .timedOut, .connectionLost, .incompleteBody: true
    case .certificateRefused, .notSecure, .badAnswer, .badRequest, .other: false
    }
  }

  /// Whether no server can have seen the request.
  private var wasNotSent: Bool {
    switch reason {
    // One that sent it on has seen it.
    case .hostNotFound, .cannotConnect, .offline: request.redirectedTo == nil
    case .timedOut, .connectionLost, .incompleteBody, .certificateRefused, .notSecure, .badAnswer,
      .badRequest, .other:
      false
    }
  }

  /// What is transient, if the request may be repeated or has not been sent.
  public var isRetryable: Bool { isTransient && (request.isRepeatable || wasNotSent) }
}

extension HTTPTransferError: CustomStringConvertible {
  public var description: String {
    let said = message.isEmpty ? "" : " (\(message))"
    return "\(request) failed: \(what)\(said). \(advice)"
  }

  private var what: String {
    switch reason {
    case .hostNotFound: "the host \(request.host) was not found"
    case .cannotConnect: "cannot connect to \(request.host)"
    case .offline: "there is no network"
    case .timedOut: "\(request.host) did not respond in time"
    case .connectionLost: "the connection was lost before the end of the response"
    case .incompleteBody(let received, let expected):
      "only \(received) of \(expected) bytes were received"
    case .certificateRefused: "the certificate of \(request.host) was rejected"
    case .notSecure: "the connection to \(request.host) cannot be made secure"
    case .badAnswer: "the response of \(request.host) is not valid HTTP"
    case .badRequest(let problem): problem
    case .other(let code): "system error \(code)"
    }
  }

  private var advice: String {
    switch reason {
    case .hostNotFound: "Check the spelling, and that this machine can resolve host names."
    case .cannotConnect: "Check the port, and that the server is running."
    case .offline: "Connect this machine to a network."
    case .timedOut: "Try again, or give the request a longer timeoutInterval."
    case .connectionLost, .incompleteBody, .other: "Try again."
    case .certificateRefused:
      "Use a certificate from an authority that this machine trusts, or trust that authority."
    case .notSecure: "Check that the server uses TLS on this port."
    case .badAnswer: "Check the scheme and the port."
    case .badRequest: "Change the request."
    }
  }
}
