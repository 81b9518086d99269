/// A field that leads to another record.
public struct RecordReference: Hashable, Codable, Sendable {
  /// What becomes of a record when the one that it leads to is deleted.
  public enum DeleteRule: String, Hashable, Codable, Sendable, CaseIterable {
    /// It stays, and leads nowhere. It need not lead anywhere when it is saved, either.
    case keep
    /// It stays, and the field is null.
    case nullify
    /// It is deleted, too.
    case cascade
    /// The other one cannot be deleted as long as this one is there.
    case deny
  }

  /// The record that it leads to.
  public let id: RecordID
  public let onDelete: DeleteRule

  /// - Parameters:
  ///   - id: The record that it leads to.
  ///   - onDelete: What becomes of the one that has the reference when the other one is deleted.
  public init(_ id: RecordID, onDelete: DeleteRule = .keep) {
    self.id = id
    self.onDelete = onDelete
  }
}
