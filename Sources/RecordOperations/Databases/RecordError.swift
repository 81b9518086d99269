public import CompositeOperations

/// An error of a request to a record database.
///
/// ```swift
/// import RecordOperations
///
/// let database = MemoryRecordDatabase()
/// do {
///   _ = try await database.changes(since: ChangeToken("of another database"), in: .default)
/// } catch let error as RecordError {
///   if case .tokenExpired = error.reason { print("fetch everything again") }
/// }
/// ```
public struct RecordError: Error, Sendable {
  /// The reason for which a request, or the change to a record, failed.
  public enum Reason: Sendable {
    /// Another writer has saved the record since it was read. The associated value is its current
    /// state.
    case conflict(DatabaseRecord)
    /// The record does not exist.
    case unknownRecord
    /// The request is larger than the database accepts.
    case limitExceeded
    /// A foreign key violation: the record refers to the associated record, which does not exist,
    /// or the associated record refers to this one and prevents its deletion.
    case referenceViolated(RecordID)
    /// Another change of an atomic batch failed, so this one was not made.
    case batchFailed
    /// The database cannot store the record or process the request. The associated value says why.
    case invalid(String)
    /// The database does not support the request. The associated value names the missing feature.
    case unsupported(String)
    /// The database is busy or temporarily unavailable, and has done nothing.
    case unavailable(String)
    /// The request was sent but no reply arrived. It is not known whether the request was carried
    /// out.
    case replyLost
    /// The current user may not do this. The associated value says why.
    case notPermitted(String)
    /// The database no longer has all changes since the token.
    case tokenExpired
    /// The remote database of a mirror is not the source of its records. The associated value says what to do.
    case otherDatabase(String)
    /// The storage of the database failed: for example, the disk is full or the file is damaged.
    case storage(String)
    /// Any other error.
    case other(any Error)
  }

  /// The reason for the failure.
  public let reason: Reason
  /// The record that the error is about; `nil` if it is about the request.
  public var record: RecordID?
  /// The minimum delay before a retry; `nil` if the database does not say.
  public let retryDelay: Duration?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - reason: The reason for the failure.
  ///   - record: The record that the error is about; `nil` if it is about the request.
  ///   - delay: The minimum delay before a retry; `nil` if the database does not say.
  public init(_ reason: Reason, of record: RecordID? = nil, retryAfter delay: Duration? = nil) {
    self.reason = reason
    self.record = record
    retryDelay = delay
  }

  /// Whether the same request may succeed if it is retried.
  public var isRetriable: Bool {
    switch reason {
    case .unavailable, .replyLost: true
    case .conflict, .unknownRecord, .limitExceeded, .referenceViolated, .batchFailed, .invalid,
      .unsupported, .notPermitted, .tokenExpired, .otherDatabase, .storage, .other:
      false
    }
  }
}

extension RecordError {
  /// The account status of a database whose request failed with the error.
  package var accountStatus: AccountStatus {
    switch reason {
    case .unavailable: .temporarilyUnavailable
    case .notPermitted: .restricted
    case .conflict, .unknownRecord, .limitExceeded, .referenceViolated, .batchFailed, .invalid,
      .unsupported, .replyLost, .tokenExpired, .otherDatabase, .storage, .other:
      .couldNotDetermine
    }
  }
}

extension RecordError: RetryAdvising {}

extension RecordError: CustomStringConvertible {
  public var description: String { (record.map { "\($0): " } ?? "") + reason.description }
}

extension RecordError.Reason: CustomStringConvertible {
  public var description: String {
    switch self {
    case .conflict(let record):
      record.tag.map {
        "conflict: the record has changed (tag \($0)); fetch it again and retry"
      } ?? "conflict: the record already exists"
    case .unknownRecord: "record not found"
    case .limitExceeded: "limit exceeded: the request is larger than the database accepts"
    case .referenceViolated(let other): "foreign key violation: \(other)"
    case .batchFailed: "not changed, because another change of its atomic batch failed"
    case .invalid(let reason): reason
    case .unsupported(let reason): reason
    case .unavailable(let reason): "database unavailable: \(reason)"
    case .replyLost: "reply lost: it is not known whether the request was carried out"
    case .notPermitted(let reason): "not permitted: \(reason)"
    case .tokenExpired: "token expired: the database no longer has all changes since this token"
    case .otherDatabase(let reason): reason
    case .storage(let reason): reason
    case .other(let error): "\(error)"
    }
  }
}
