internal import RecordOperations

extension CloudKitFailure {
  /// The error for callers of a database (rule Y2).
  ///
  /// - Parameter isWrite: Whether the request may have been carried out, after an internal error.
  func error(isWrite: Bool) -> RecordError {
    RecordError(reason(isWrite: isWrite), retryAfter: Self.delay(of: retryAfter))
  }

  /// The longest delay that is kept; a server that asks for more is asked again.
  private static let longestDelay = 300.0

  /// Returns a delay in seconds as a duration; nil for no number.
  static func delay(of seconds: Double?) -> Duration? {
    guard let seconds, seconds.isFinite else { return nil }
    return .seconds(min(max(0, seconds), longestDelay))
  }

  private func reason(isWrite: Bool) -> RecordError.Reason {
    switch serverErrorCode {
    case "THROTTLED", "TRY_AGAIN_LATER", "ZONE_BUSY": .unavailable(text)
    case "INTERNAL_ERROR": isWrite ? .replyLost : .unavailable(text)
    case "NOT_FOUND": .unknownRecord
    case "ATOMIC_ERROR": .batchFailed
    case "QUOTA_EXCEEDED": .storage(text)
    case "ACCESS_DENIED", "AUTHENTICATION_FAILED": .notPermitted(text)
    case "AUTHENTICATION_REQUIRED":
      .notPermitted(
        redirectURL.map { "the user must sign in: open \($0) (\(text))" }
          ?? "the user must sign in (\(text))")
    default: .invalid(text)
    }
  }

  /// Whether the record exists with another tag, or exists although it should not.
  var isConflict: Bool { serverErrorCode == "CONFLICT" || serverErrorCode == "EXISTS" }

  /// Whether a reference of the record, or to it, prevents the change.
  var isReferenceViolation: Bool { serverErrorCode == "VALIDATING_REFERENCE_ERROR" }

  /// The code and the reason.
  var text: String {
    reason.map { "CloudKit: \(serverErrorCode): \($0)" } ?? "CloudKit: \(serverErrorCode)"
  }
}
