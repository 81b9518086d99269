public import CompositeOperations

/// What a database of records refuses, or cannot do.
public struct RecordError: Error, Sendable {
  public enum Reason: Sendable {
    /// Somebody else has saved the record since it was read; this is how it is now.
    case conflict(DatabaseRecord)
    /// The record is not there.
    case unknownRecord
    /// It is more than the database takes at once.
    case limitExceeded
    /// The record leads to one that is not there, or cannot be deleted because that one leads to it.
    case referenceViolated(RecordID)
    /// Another record of an atomic batch could not be changed, so this one was not either.
    case batchFailed
    /// The record or the request is not one that the database can keep, and why.
    case invalid(String)
    /// The database is not able to do that, and what it is.
    case unsupported(String)
    /// The database is busy, or not there at the moment, and has done nothing.
    case unavailable(String)
    /// The request was sent and no answer came: nobody knows whether it was done.
    case replyLost
    /// Whoever asks may not do that, and why.
    case notPermitted(String)
    /// The changes since a token are not known any more.
    case tokenExpired
    /// The database itself cannot go on: its disk is full, its file damaged.
    case storage(String)
    /// What was thrown that is none of these.
    case other(any Error)
  }

  public let reason: Reason
  /// The record that it is about; nil if it is about the request.
  public var record: RecordID?
  /// How long to wait at least before it is tried again; nil if the database does not say.
  public let retryDelay: Duration?

  public init(_ reason: Reason, of record: RecordID? = nil, retryAfter delay: Duration? = nil) {
    self.reason = reason
    self.record = record
    retryDelay = delay
  }

  /// Whether the same may go right if it is tried again as it is.
  public var isRetriable: Bool {
    switch reason {
    case .unavailable, .replyLost: true
    case .conflict, .unknownRecord, .limitExceeded, .referenceViolated, .batchFailed, .invalid,
      .unsupported, .notPermitted, .tokenExpired, .storage, .other:
      false
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
    case .storage(let reason): reason
    case .other(let error): "\(error)"
    }
  }
}
