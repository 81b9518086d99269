internal import SQLiteSupport

/// The unsent records of a mirror, in the order in which they are sent: referenced records first,
/// then deletions, with referring records first.
enum MirrorOutbox {
  /// A part of the unsent records.
  struct Window: Sendable {
    var edits: [MirrorEdit] = []
    /// The local tag after which the next part begins.
    var last: Int64
    /// The marked records that are left.
    var rest: [RecordID]
    /// Whether no part follows.
    var isLast: Bool
    /// The records that are sent earlier than in the order of their tags.
    var early: [RecordID] = []
  }

  /// Returns a part of the unsent records.
  ///
  /// - Parameters:
  ///   - sequence: The local tag after which the part begins.
  ///   - end: The last local tag of all parts. Later edits are sent by the next round.
  ///   - marked: The records that are marked as unsent.
  ///   - skipped: The records that were sent with an earlier part.
  ///   - count: The maximum number of records.
  static func window(
    of mirror: RecordMirror, on connection: SQLiteConnection, after sequence: Int64,
    upTo end: Int64, marked: [RecordID], skipping skipped: Set<RecordID>, atMost count: Int
  ) throws -> Window {
    let tables = MirrorTables(connection: connection, mirror: mirror.name)
    let found = try tables.unsent(
      after: sequence, upTo: end, atMost: count, types: mirror.types)
    let early = Array(marked.prefix(count - found.count))
    var window = Window(
      last: found.last?.sequence ?? sequence, rest: Array(marked.dropFirst(early.count)),
      isLast: found.count < count && marked.count == early.count, early: early)
    var reader = Reader(connection, tables, of: mirror)
    for id in early + found.map(\.id) where !skipped.contains(id) { try reader.add(id) }
    window.early += reader.parents
    window.edits = reader.ordered()
    return window
  }

  /// Reads unsent records, with the unsent records that they refer to.
  private struct Reader {
    private struct Entry {
      let edit: MirrorEdit
      /// The records that have to be sent before this one.
      let references: [(key: String, id: RecordID)]
    }

    private let connection: SQLiteConnection
    private let tables: MirrorTables
    private let types: Set<String>
    /// Whether the times of edits decide about conflicts.
    private let comparesTimes: Bool
    private var saves: [RecordID: Entry] = [:]
    private var deletions: [RecordID: Entry] = [:]
    private var order: [RecordID] = []
    /// The records that were added because others refer to them.
    private(set) var parents: [RecordID] = []

    init(_ connection: SQLiteConnection, _ tables: MirrorTables, of mirror: RecordMirror) {
      (self.connection, self.tables, types) = (connection, tables, Set(mirror.types))
      comparesTimes = mirror.conflicts.comparesTimes
    }

    mutating func add(_ id: RecordID) throws {
      var unread = [(id: id, isParent: false)]
      while let (id, isParent) = unread.popLast() {
        guard saves[id] == nil, deletions[id] == nil else { continue }
        guard let entry = try entry(id, isParent: isParent) else { continue }
        order.append(id)
        if isParent { parents.append(id) }
        if case .delete = entry.edit.change {
          deletions[id] = entry
        } else {
          saves[id] = entry
          for (_, other) in entry.references where types.contains(other.type) {
            unread.append((other, true))
          }
        }
      }
    }

    /// Returns the edit of a record; nil if it has none.
    ///
    /// - Parameter isParent: Whether only a record that the remote database has never had counts.
    private func entry(_ id: RecordID, isParent: Bool) throws -> Entry? {
      guard let state = try tables.state(of: id) else { return nil }
      let base = try tables.base(of: id)
      guard base?.pending.isDisjoint(with: .unmerged) ?? true else { return nil }
      if isParent, base?.tag != nil || state.isDeleted { return nil }
      guard state.sequence != base?.sequence else { return nil }
      if state.isDeleted {
        guard let base, let tag = base.tag, base.sequence != MirrorBase.notStored else {
          return nil
        }
        return Entry(
          edit: MirrorEdit(
            change: .delete(id, ifTagged: tag), sequence: state.sequence, fields: [:]),
          references: DatabaseRecord(id, fields: base.fields, tag: nil).foreignKeys)
      }
      guard let local = try MirrorStore.local(id, on: connection) else { return nil }
      var record = DatabaseRecord(id, fields: base?.fields ?? [:], tag: base?.tag)
      let isWhole = base?.pending.contains(.whole) == true
      for key in local.keys where isWhole || !local[key].isSame(as: record[key]) {
        record[key] = local[key]
      }
      if comparesTimes { record.edited = local.modified }
      return Entry(
        edit: MirrorEdit(
          change: .save(record, .ifUnchanged), sequence: state.sequence,
          fields: record.fields(by: .ifUnchanged)),
        references: record.foreignKeys)
    }

    /// Returns the edits in the order in which they are sent.
    func ordered() -> [MirrorEdit] {
      var edits: [MirrorEdit] = []
      Self.visit(order.filter { saves[$0] != nil }, saves) { entry, missing in
        edits.append(missing.isEmpty ? entry.edit : entry.edit.without(missing))
      }
      var deleted: [MirrorEdit] = []
      Self.visit(order.filter { deletions[$0] != nil }, deletions) { entry, _ in
        deleted.append(entry.edit)
      }
      return edits + deleted.reversed()
    }

    /// Visits entries after those that they refer to, where possible.
    ///
    /// - Parameter body: Receives an entry, and the keys of its references to entries that are
    ///   visited later, because they refer to this one.
    private static func visit(
      _ ids: [RecordID], _ entries: [RecordID: Entry], _ body: (Entry, [String]) -> Void
    ) {
      var visited: Set<RecordID> = []
      var open: Set<RecordID> = []
      for id in ids where !visited.contains(id) {
        var path = [(id: id, next: 0)]
        open.insert(id)
        while let (current, next) = path.last {
          guard let entry = entries[current] else { preconditionFailure("the entry must exist") }
          if next < entry.references.count {
            path[path.count - 1].next += 1
            let other = entry.references[next].id
            if entries[other] != nil, !visited.contains(other), open.insert(other).inserted {
              path.append((other, 0))
            }
          } else {
            path.removeLast()
            visited.insert(current)
            body(
              entry,
              entry.references.filter {
                $0.id != current && entries[$0.id] != nil && !visited.contains($0.id)
              }.map(\.key))
          }
        }
      }
    }
  }
}

extension MirrorEdit {
  /// Returns the edit without some fields, which are sent later.
  fileprivate func without(_ keys: [String]) -> MirrorEdit {
    guard case .save(let record, let policy) = change else { return self }
    var partial = DatabaseRecord(record.id, fields: record.originals, tag: record.tag)
    for key in record.changedKeys where !keys.contains(key) { partial[key] = record[key] }
    partial.edited = record.edited
    var fields = fields
    for key in keys { fields[key] = nil }
    var edit = MirrorEdit(change: .save(partial, policy), sequence: sequence, fields: fields)
    edit.isPartial = true
    return edit
  }
}

extension DatabaseRecord {
  /// The records that must exist while this one does, and the fields that refer to them.
  var foreignKeys: [(key: String, id: RecordID)] {
    fields.compactMap { key, value in
      guard case .reference(let reference) = value, reference.onDelete != .keep else { return nil }
      return (key, reference.id)
    }
  }

  fileprivate var hasForeignKeys: Bool {
    fields.values.contains { value in
      if case .reference(let reference) = value { reference.onDelete != .keep } else { false }
    }
  }
}

extension [DatabaseRecord] {
  /// The records in an order in which each follows those that it refers to, where possible.
  var orderedByReferences: [DatabaseRecord] {
    if allSatisfy({ !$0.hasForeignKeys }) { return self }
    let targets = map { $0.foreignKeys.map(\.id) }
    let places = Dictionary(enumerated().map { ($1.id, $0) }) { first, _ in first }
    var ordered: [DatabaseRecord] = []
    ordered.reserveCapacity(count)
    var isVisited = [Bool](repeating: false, count: count)
    for start in indices where !isVisited[start] {
      isVisited[start] = true
      var path = [(place: start, next: 0)]
      while let (place, next) = path.last {
        guard next < targets[place].count else {
          path.removeLast()
          ordered.append(self[place])
          continue
        }
        path[path.count - 1].next += 1
        if let target = places[targets[place][next]], !isVisited[target] {
          isVisited[target] = true
          path.append((target, 0))
        }
      }
    }
    return ordered
  }
}
