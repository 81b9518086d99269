/// Up to where changes are known. It means something to the database alone that has given it.
public struct ChangeToken: Hashable, Codable, Sendable, CustomStringConvertible {
  /// What the database calls it.
  public let description: String

  public init(_ description: String) { self.description = description }
}

/// Some of what has changed in a database, in the order in which it did.
public struct ChangePage: Sendable {
  /// The records that were saved, as they are now. None of them is among the deleted.
  public var changed: [DatabaseRecord]
  /// The records that were deleted.
  public var deleted: [RecordID]
  /// Up to where this page tells the changes: what the next request begins with.
  public var token: ChangeToken
  /// Whether there is more to tell at once.
  public var hasMore: Bool

  public init(
    changed: [DatabaseRecord], deleted: [RecordID], token: ChangeToken, hasMore: Bool
  ) {
    self.changed = changed
    self.deleted = deleted
    self.token = token
    self.hasMore = hasMore
  }
}
