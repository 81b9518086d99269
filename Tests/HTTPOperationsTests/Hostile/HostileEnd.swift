import CompositeOperations
import Foundation
import HTTPOperations

/// The end of a request, as far as its caller can tell.
enum HostileEnd: Equatable, Sendable {
  case body([UInt8], status: Int = 200)
  case transfer(HTTPTransferError.Reason, isRetryable: Bool)
  case status(Int, [UInt8])
  case redirect(HTTPRedirectError.Reason)
  case tooLarge(announced: Int?)
  case cancelled
  /// No error of this module, which is never expected.
  case unclear(String)

  static func text(_ text: String, status: Int = 200) -> HostileEnd {
    .body(Array(text.utf8), status: status)
  }

  static let lost = HostileEnd.transfer(.connectionLost, isRetryable: true)
  static let timedOut = HostileEnd.transfer(.timedOut, isRetryable: true)
  static let invalid = HostileEnd.transfer(.badAnswer, isRetryable: false)
  static let undecodable = HostileEnd.transfer(.undecodableBody, isRetryable: false)

  /// The end of a request that failed.
  init<Success>(failureOf outcome: Outcome<Success>) {
    if outcome.isCancelled {
      self = .cancelled
      return
    }
    guard let error = outcome.error as? any HTTPRequestError else {
      self = .unclear("\(outcome)")
      return
    }
    switch error {
    case let error as HTTPTransferError:
      self = .transfer(error.reason, isRetryable: error.isRetryable)
    case let error as HTTPStatusError: self = .status(error.status, Array(error.body))
    case let error as HTTPRedirectError: self = .redirect(error.reason)
    case let error as HTTPBodyLimitError: self = .tooLarge(announced: error.announced)
    default: self = .unclear("\(error)")
    }
    // Every error names the request that failed.
    if !"\(error)".contains(error.request.address) { self = .unclear("\(error)") }
  }
}

extension HostileEnd: CustomStringConvertible {
  var description: String {
    switch self {
    case .body(let bytes, let status): "status \(status) with the body \(Self.shown(bytes))"
    case .transfer(let reason, let isRetryable): "\(reason), retryable: \(isRetryable)"
    case .status(let status, let body): "the error of status \(status): \(Self.shown(body))"
    case .redirect(let reason): "\(reason)"
    case .tooLarge(let announced): "too large, announced: \(announced.map { "\($0)" } ?? "nothing")"
    case .cancelled: "cancelled"
    case .unclear(let text): text
    }
  }

  private static func shown(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.prefix(60), as: UTF8.self).debugDescription + " (\(bytes.count) bytes)"
  }
}
