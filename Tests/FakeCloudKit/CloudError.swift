/// An error of a request or of one record, with a code of Apple's table.
struct CloudError: Error, Sendable {
  var code: String
  var reason: String
  /// The time in seconds after which to repeat the request; nil if it cannot be repeated.
  var retryAfter: Int?
  /// The HTTP status; nil for the status in Apple's table.
  var explicitStatus: Int?

  init(_ code: String, _ reason: String, retryAfter: Int? = nil, status: Int? = nil) {
    self.code = code
    self.reason = reason
    self.retryAfter = retryAfter
    explicitStatus = status
  }

  static func badRequest(_ reason: String) -> CloudError { CloudError("BAD_REQUEST", reason) }

  /// An error of one record that a test injects.
  static func injected(_ code: String) -> CloudError {
    let isTemporary = ["THROTTLED", "TRY_AGAIN_LATER", "ZONE_BUSY"].contains(code)
    return CloudError(code, "injected error", retryAfter: isTemporary ? 1 : nil)
  }

  var status: Int { explicitStatus ?? Self.statuses[code] ?? 400 }

  /// The keys that the error of a request and the error of a record have in common.
  var members: [String: CloudValue] {
    var members: [String: CloudValue] = [
      "serverErrorCode": .string(code), "reason": .string(reason),
    ]
    if let retryAfter { members["retryAfter"] = .integer(Int64(retryAfter)) }
    return members
  }

  private static let statuses = [
    "ACCESS_DENIED": 403, "ATOMIC_ERROR": 400, "AUTHENTICATION_FAILED": 401,
    "AUTHENTICATION_REQUIRED": 421, "BAD_REQUEST": 400, "CONFLICT": 409, "EXISTS": 409,
    "INTERNAL_ERROR": 500, "NOT_FOUND": 404, "QUOTA_EXCEEDED": 413, "THROTTLED": 429,
    "TRY_AGAIN_LATER": 503, "VALIDATING_REFERENCE_ERROR": 412, "ZONE_NOT_FOUND": 404,
  ]
}
