public import Foundation
internal import SystemSupport

/// The error of a request without a response, or with only a part of one.
public struct HTTPTransferError: HTTPRequestError {
  /// A reason why a transfer failed.
  public enum Reason: Sendable, Hashable {
    /// The host name has no address.
    case hostNotFound
    /// The host does not exist, or no server listens on the port; or the proxy cannot be reached,
    /// or cannot connect.
    case cannotConnect
    /// The process or the system has too many open files for another connection.
    case tooManyOpenFiles
    /// The request waited too long, because as many others as the session permits were running.
    case connectionsInUse
    /// The request was made inside the functions of streams that hold all connections to the host,
    /// so it would wait for itself.
    case deadlock
    /// There is no network.
    case offline
    /// The request exceeded a limit of time, which is the ``HTTPTransferError/timeout`` of the
    /// error.
    case timedOut
    /// The connection was lost before the end of the response.
    case connectionLost
    /// The body is shorter than the server announced, in bytes.
    case incompleteBody(received: Int, expected: Int)
    /// The certificate of the server is not trusted, is not for this host, or has expired.
    case certificateRefused
    /// No secure connection could be made.
    case notSecure
    /// The response is not valid HTTP.
    case badAnswer
    /// The request is invalid, for the reason in the text.
    case badRequest(String)
    /// The body cannot be decompressed, or has an unknown coding.
    case undecodableBody
    /// Another error, with the code of libcurl or the `errno` of the system; on Apple platforms,
    /// with the code of the `URLError`.
    case other(code: Int)
  }

  /// A limit of time that a request has exceeded.
  public enum Timeout: Sendable, Hashable, CustomStringConvertible {
    /// No connection was made within the ``HTTPConfiguration/connectTimeout``.
    case connect(Duration)
    /// No response began within the ``HTTPConfiguration/responseTimeout``.
    case response(Duration)
    /// Nothing was sent or received within the timeout of the request.
    case idle(Duration)

    /// The phase and the limit.
    public var description: String {
      switch self {
      case .connect(let limit): "no connection within the connectTimeout of \(limit.readableTime)"
      case .response(let limit): "no response within the responseTimeout of \(limit.readableTime)"
      case .idle(let limit): "nothing was sent or received for \(limit.readableTime)"
      }
    }

    var advice: String? {
      switch self {
      case .connect: "Try again, or raise the connectTimeout of the session."
      case .response: "Try again, or raise the responseTimeout of the session."
      case .idle: nil
      }
    }
  }

  /// The request that failed.
  public let request: HTTPRequestSummary
  /// Why the transfer failed.
  public let reason: Reason
  /// The message of the system; may be empty.
  public let message: String
  /// The address of the proxy that failed, without user and password; nil if it was not the proxy.
  /// Only on Linux.
  public let proxy: String?
  /// The limit of time that was exceeded; nil for other reasons, and on Apple platforms.
  public let timeout: Timeout?
  /// Whether a server may have processed the request.
  public let wasSent: Bool
  /// The head of a response whose body was not received completely; nil if no head was received.
  public let head: HTTPResponseHead?
  /// The advice, if that depends on more than the reason.
  private let specialAdvice: String?

  /// Whether another attempt may succeed.
  public var isTransient: Bool {
    switch reason {
    case .hostNotFound, .cannotConnect, .tooManyOpenFiles, .connectionsInUse, .offline, .timedOut,
      .connectionLost, .incompleteBody:
      true
    case .deadlock, .certificateRefused, .notSecure, .badAnswer, .undecodableBody, .badRequest,
      .other:
      false
    }
  }

  /// Whether the failure is transient, and the request may be repeated or was not sent.
  public var isRetryable: Bool { isTransient && (request.isRepeatable || !wasSent) }
}

extension HTTPTransferError {
  /// - Parameter head: The head of the response; nil if none was received.
  init(
    _ error: HTTPTransportError, of request: HTTPRequestSummary, after head: HTTPResponseHead? = nil
  ) {
    self.request = request
    self.head = head
    reason = error.reason
    message = error.message
    proxy = error.proxy
    timeout = error.timeout
    specialAdvice = error.advice
    // A server that redirected it has received it.
    wasSent = error.wasSent || request.redirectedTo != nil
  }
}

extension HTTPTransferError: CustomStringConvertible {
  /// The request, the reason, the message of the system, and what to do.
  public var description: String {
    let said = message.isEmpty ? "" : " (\(message))"
    return "\(request) failed: \(what)\(said). \(specialAdvice ?? advice)"
  }

  private var what: String {
    let peer = proxy.map { "the proxy \($0)" } ?? request.host
    return switch reason {
    case .hostNotFound: "the host \(request.host) was not found"
    case .cannotConnect where proxy != nil: "cannot connect through \(peer)"
    case .cannotConnect: "cannot connect to \(peer)"
    case .tooManyOpenFiles: "too many open files"
    case .connectionsInUse: "no connection to \(request.host) became free"
    case .deadlock:
      "deadlock: all connections to \(request.host) are held by the streams that it is part of"
    case .offline: "there is no network"
    case .timedOut: "\(peer) did not respond in time"
    case .connectionLost where proxy != nil: "the connection to \(peer) was lost"
    case .connectionLost: "the connection was lost before the end of the response"
    case .incompleteBody(let received, let expected):
      "only \(received) of \(expected) bytes were received"
    case .certificateRefused: "the certificate of \(peer) was rejected"
    case .notSecure: "the connection to \(peer) cannot be made secure"
    case .badAnswer: "the response of \(peer) is not valid HTTP"
    case .undecodableBody: "the body of the response cannot be decoded"
    case .badRequest(let problem): problem
    case .other(let code): "system error \(code)"
    }
  }

  private var advice: String {
    switch reason {
    case .hostNotFound: "Check the spelling, and that this machine can resolve host names."
    case .cannotConnect where proxy != nil:
      "Check the address of the proxy, that it is running, and that it can connect to "
        + "\(request.host)."
    case .cannotConnect: "Check the port, and that the server is running."
    case .tooManyOpenFiles:
      "Close files and connections, lower the connectionsPerHost of the session, or raise the limit "
        + "of the process (ulimit -n)."
    case .connectionsInUse:
      "End streams earlier, or raise the connectionsPerHost or the connectionWait of the session."
    case .deadlock:
      "Send it after the stream or with another session, or raise the connectionsPerHost."
    case .offline: "Connect this machine to a network."
    case .timedOut: "Try again, or give the request a longer timeoutInterval."
    case .connectionLost, .incompleteBody: "Try again."
    case .certificateRefused:
      "Use a certificate from an authority that this machine trusts, or trust that authority."
    case .notSecure:
      "Check that the server uses TLS on this port, and whether it requires a client certificate."
    case .badAnswer: "Check the scheme and the port."
    case .undecodableBody:
      "Report this to the operator of the server, or request it uncompressed: set the header "
        + "Accept-Encoding to identity."
    case .badRequest where proxy != nil:
      "Use a proxy that permits the request, with a user and a password that it accepts."
    case .badRequest: "Change the request."
    case .other: "Look up the message or the code, which is one of libcurl, URLError or errno."
    }
  }
}

extension HTTPTransferError: CustomReflectable {
  /// Without the head, whose URL and headers may have secrets.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "request": request, "reason": reason, "message": message, "proxy": proxy as Any,
        "wasSent": wasSent,
      ])
  }
}

extension HTTPTransferError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}
