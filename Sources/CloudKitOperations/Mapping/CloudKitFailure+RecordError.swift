internal import RecordOperations

extension CloudKitFailure {
  /// The error for callers of a database (rule Y2).
  ///
  /// - Parameter isWrite: Whether the request may have been carried out, after an internal error.
  func error(isWrite: Bool) -> RecordError {
    RecordError(reason(isWrite: isWrite), retryAfter: retryAfter.map { .seconds($0) })
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
