/// A three-way merge of a record: its last common state, its local state and its remote state.
///
/// A field that only one side has changed since the last common state takes the value of that side.
/// A field without a value equals null, and a list or a reference is one value.
struct ThreeWayMerge {
  /// The merged fields. A field in conflict has the remote value until the conflict is resolved.
  private(set) var fields: [String: FieldValue] = [:]
  private var mine: [String: FieldValue] = [:]
  /// The fields that both sides have changed to different values, sorted.
  private(set) var conflicts: [String] = []

  /// - Parameters:
  ///   - base: The fields of the last common state; empty if there is none.
  ///   - sent: The fields that were sent without a reply. A remote value that equals the sent one is
  ///     not a change of another writer.
  ///   - isWhole: Whether all fields of the local state count as edits, and all remote ones as changes.
  ///   - local: The local state.
  ///   - remote: The remote state.
  init(
    base: [String: FieldValue], sent: [String: FieldValue], isWhole: Bool = false,
    local: DatabaseRecord, remote: DatabaseRecord
  ) {
    for key in Set(local.fields.keys).union(remote.fields.keys) {
      let (theirs, before) = (remote[key], base[key] ?? .null)
      // A file without a column for the field has not changed it.
      let mine = local.has(key) ? local[key] : before
      self.mine[key] = mine
      if mine.isSame(as: theirs) {
        fields[key] = mine
      } else if isWhole, local.has(key) {
        fields[key] = theirs
        conflicts.append(key)
      } else if mine.isSame(as: before) {
        fields[key] = theirs
      } else if theirs.isSame(as: before) || sent[key].map({ theirs.isSame(as: $0) }) ?? false {
        fields[key] = mine
      } else {
        fields[key] = theirs
        conflicts.append(key)
      }
    }
    conflicts.sort()
  }

  /// The merged fields that differ from the local state.
  var changes: [String: FieldValue] {
    fields.filter { key, value in !value.isSame(as: mine[key] ?? .null) }
  }

  /// Gives a field its merged value.
  mutating func resolve(_ key: String, as value: FieldValue) { fields[key] = value }
}

extension FieldValue {
  /// Whether two values are equal for a mirror: 2 and 2.0 are, and references to the same record,
  /// because each database has delete rules of its own.
  func isSame(as other: FieldValue) -> Bool {
    self == other || isEquivalent(to: other)
  }
}

extension DatabaseRecord {
  /// Whether two records have the same fields for a mirror.
  func hasSameFields(as other: [String: FieldValue]) -> Bool {
    fields.allSatisfy { $1.isSame(as: other[$0] ?? .null) }
      && other.allSatisfy { fields[$0] != nil || $1 == .null }
  }
}
