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
  /// The position after this page, from which the next request continues.
  public var token: ChangeToken
  /// Whether more changes are available now.
  public var hasMore: Bool

  /// Creates a page of changes.
  public init(
    changed: [DatabaseRecord], deleted: [RecordID], token: ChangeToken, hasMore: Bool
  ) {
    self.changed = changed
    self.deleted = deleted
    self.token = token
    self.hasMore = hasMore
  }
}
