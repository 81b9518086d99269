/// A reference to another record.
///
/// ```swift
/// import RecordOperations
///
/// var book = DatabaseRecord("Book", "9780141439600")
/// book["author"] = .reference(RecordReference(RecordID("Author", "jane"), onDelete: .nullify))
/// ```
public struct RecordReference: Hashable, Codable, Sendable {
  /// The effect on a record when the record that it refers to is deleted.
  public enum DeleteRule: String, Hashable, Codable, Sendable, CaseIterable {
    /// The record and its reference stay. A reference to a record that does not exist can also be
    /// saved.
    case keep
    /// The record stays, and the field becomes null.
    case nullify
    /// The record is deleted, too.
    case cascade
    /// The other record cannot be deleted while this one exists.
    case deny
  }

  /// The ID of the other record.
  public let id: RecordID
  /// The effect on the record with the reference when the other record is deleted.
  public let onDelete: DeleteRule

  /// Creates a reference.
  ///
  /// - Parameters:
  ///   - id: The ID of the other record.
  ///   - onDelete: The effect on the record with the reference when the other record is deleted.
  public init(_ id: RecordID, onDelete: DeleteRule = .keep) {
    self.id = id
    self.onDelete = onDelete
  }
}
