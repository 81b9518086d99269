/// The entry of a mirror for a record: the last state that both databases had in common, and the
/// pending work.
struct MirrorBase {
  /// The pending work for a record.
  struct Pending: OptionSet {
    let rawValue: Int64
    /// The remote database does not have the record any more.
    static let missing = Pending(rawValue: 1)
    /// A remote state could not be stored locally: it refers to a record that is not here yet, or
    /// the local database rejects it.
    static let waiting = Pending(rawValue: 2)
    /// The local state has to be sent, although its tag may be older than the examined ones.
    static let unsent = Pending(rawValue: 4)
    /// All fields of the local state have to be sent, also those of the common state.
    static let whole = Pending(rawValue: 8)
    /// The remote state could not be read, so the next round looks it up.
    static let unread = Pending(rawValue: 16)
    /// The reason not to send the local state: the remote one is not merged yet.
    static let unmerged: Pending = [.missing, .waiting, .unread]
  }

  /// No local state is equal to the common one, so the record is unsent.
  static let noSequence: Int64 = -1
  /// The record was deleted locally while the common state got fields for which the file may have no
  /// columns. A later local state has none of these fields, although none of them was removed.
  static let deletedHere: Int64 = -2
  /// The record has never been stored locally.
  static let notStored: Int64 = 0

  /// The remote tag of the common state; nil if there is none.
  var tag: RecordTag?
  /// The fields of the common state; empty if there is none.
  var fields: [String: FieldValue] = [:]
  /// The local tag of the common state.
  var sequence = notStored
  /// The fields that were sent without a reply; nil if none were.
  var sent: [String: FieldValue]?
  var pending: Pending = []
  /// The remote state that waits to be stored locally.
  var waiting: (tag: RecordTag?, fields: [String: FieldValue])?
  /// The reason for which the record was last rejected, as it was reported; nil if it was not.
  var rejection: String?
  /// The local tag of the state that the remote database rejected; nil if the local one did.
  var rejected: Int64?
}
