#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A position in the changes of a database. Only the database that issued it can interpret it.
public struct ChangeToken: Hashable, Codable, Sendable, CustomStringConvertible {
  /// The database's text for the position.
  public let description: String

  /// Creates a token from the database's text for the position.
  public init(_ description: String) { self.description = description }
}

/// A page of the changes of a database, in the order in which they were made.
public struct ChangePage: Sendable {
  /// The saved records in their current state. None of them is in ``deleted``.
  public var changed: [DatabaseRecord]
  /// The IDs of the deleted records.
  public var deleted: [RecordID]
  /// The errors of changed records that could not be read, each with its ``RecordError/record``. The position after this
  /// page is also after their changes, so look the records up later. A record whose type is not known has an
  /// error for each type that it can have.
  public var failed: [RecordError] = []
  /// The position after this page, from which the next request continues.
  public var token: ChangeToken
  /// Whether more changes are available now.
  public var hasMore: Bool
  /// The time of the first change that cannot be reported yet, because an open transaction of another
  /// program delays it; `nil` if no change is delayed, or if the database does not know.
  public var delayedSince: Date?

  /// Creates a page of changes.
  ///
  /// - Parameters:
  ///   - changed: The saved records in their current state.
  ///   - deleted: The IDs of the deleted records.
  ///   - token: The position after this page.
  ///   - hasMore: Whether more changes are available now.
  ///   - delayedSince: The time of the first change that an open transaction delays.
  public init(
    changed: [DatabaseRecord], deleted: [RecordID], token: ChangeToken, hasMore: Bool,
    delayedSince: Date? = nil
  ) {
    self.changed = changed
    self.deleted = deleted
    self.token = token
    self.hasMore = hasMore
    self.delayedSince = delayedSince
  }
}
