extension MirroredArray {
  /// The elements at one time, without their actor.
  struct Snapshot: Sendable {
    /// The records of the elements, in the order of their names.
    private(set) var records: [DatabaseRecord]
    private(set) var elements: [Element]
    /// The changes of the elements, each with its index after the changes before it.
    private(set) var changes: [Change] = []

    init(_ records: [DatabaseRecord], _ elements: [Element]) {
      (self.records, self.elements) = (records, elements)
    }

    /// Returns the elements after fetched changes. It runs on no actor, because converting many
    /// records takes long.
    ///
    /// - Complexity: O(*n* + *m* log *m*) for *n* elements and *m* changes.
    @concurrent
    func applying(_ fetched: FetchedChanges) async -> Snapshot {
      let type = Element.recordType
      var latest: [RecordID: DatabaseRecord?] = [:]
      for id in fetched.deleted where id.type == type { latest[id] = .some(nil) }
      for record in fetched.changed where record.id.type == type { latest[record.id] = record }
      if fetched.startsOver {
        for record in records where latest[record.id] == nil { latest[record.id] = .some(nil) }
      }
      var next = Snapshot([], [])
      next.records.reserveCapacity(records.count + latest.count)
      next.elements.reserveCapacity(records.count + latest.count)
      var index = 0
      // In order, so that all elements before a change have their final index.
      for (id, record) in latest.sorted(by: { $0.key.precedes($1.key) }) {
        let end = place(of: id, from: index)
        next.records += records[index..<end]
        next.elements += elements[index..<end]
        let isPresent = end < records.count && records[end].id == id
        next.append(record, of: id, isPresent ? (records[end], elements[end]) : nil)
        index = isPresent ? end + 1 : end
      }
      next.records += records[index...]
      next.elements += elements[index...]
      return next
    }

    /// Appends the new state of a record; nil removes its element.
    private mutating func append(
      _ record: DatabaseRecord?, of id: RecordID, _ old: (record: DatabaseRecord, element: Element)?
    ) {
      let index = elements.count
      do {
        if let record {
          // The same state may be reported twice.
          let isSame = record.tag == old?.record.tag
          let element = if isSame, let old { old.element } else { try Element(record) }
          records.append(record)
          elements.append(element)
          if old == nil {
            changes.append(.inserted(element, at: index))
          } else if !isSame {
            changes.append(.updated(element, at: index))
          }
        } else if let old {
          changes.append(.removed(old.element, at: index))
        }
      } catch {
        if let old { changes.append(.removed(old.element, at: index)) }
        changes.append(.unreadable(id, error))
      }
    }

    func record(_ id: RecordID) -> DatabaseRecord? {
      let index = place(of: id)
      return index < records.count && records[index].id == id ? records[index] : nil
    }

    /// Returns the index of a record, or the index at which it would be inserted.
    private func place(of id: RecordID, from start: Int = 0) -> Int {
      var (low, high) = (start, records.count)
      while low < high {
        let middle = (low + high) / 2
        if records[middle].id.precedes(id) { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }
}
