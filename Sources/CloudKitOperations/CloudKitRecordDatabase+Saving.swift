public import RecordOperations

extension CloudKitRecordDatabase {
  /// The size of a record that CloudKit accepts, in bytes.
  private static let recordLimit = 1_000_000

  /// Saves and deletes records, with one request for each zone. If the request for the second or a
  /// later zone is too large, it is split into halves.
  ///
  /// A batch with conflicts needs another request, which reads the records. A batch with deletions
  /// without a tag begins with a request that reads the types of the records, because CloudKit
  /// deletes by the name alone, which may belong to a record of another type.
  ///
  /// - Parameter batch: At most as many records and bytes as ``limits`` allow.
  /// - Returns: One reply for each change, in the order of the batch.
  /// - Throws: A `RecordError` if the batch exceeds the limits or is atomic where CloudKit has no
  ///   atomic batches, or the request fails as a whole; `CancellationError`.
  public func modify(_ batch: RecordBatch) async throws -> [RecordReply] {
    try Task.checkCancellation()
    if batch.isAtomic { try capabilities.require(.atomicBatches) }
    try limits.check(batch)
    var problems = batch.changes.map(problem)
    markRepeatedNames(in: batch.changes, &problems)
    try await findMissing(of: batch, &problems)
    if batch.isAtomic, problems.contains(where: { $0 != nil }) {
      return zip(batch.changes, problems).map { change, problem in
        .failed(problem ?? RecordError(.batchFailed, of: change.id))
      }
    }
    let zones = batch.changes.reduce(into: [RecordZone]()) { zones, change in
      if !zones.contains(change.id.zone) { zones.append(change.id.zone) }
    }
    if batch.isAtomic, zones.count > 1 {
      throw RecordError(
        .unsupported("CloudKit cannot change records of several zones atomically: send one by one"))
    }
    var replies: [RecordReply] = problems.map { .failed($0 ?? RecordError(.replyLost)) }
    var isFirst = true
    var requests = zones.map { zone in
      batch.changes.indices.filter { problems[$0] == nil && batch.changes[$0].id.zone == zone }
    }.filter { !$0.isEmpty }[...]
    while let indices = requests.popFirst() {
      do {
        let changes = indices.map { batch.changes[$0] }
        let results = try await modify(changes, in: changes[0].id.zone, isAtomic: batch.isAtomic)
        for (index, reply) in zip(indices, results) { replies[index] = reply }
      } catch  where !isFirst {
        // The changes in another zone were made, so the caller cannot split the batch.
        let failure = error as? RecordError ?? RecordError(.replyLost)
        if case .limitExceeded = failure.reason, indices.count > 1 {
          let middle = indices.count / 2
          requests = [Array(indices[..<middle]), Array(indices[middle...])] + requests
        } else {
          for index in indices { replies[index] = .failed(failure) }
        }
      }
      isFirst = false
    }
    return replies
  }

  /// The reason why a change cannot be sent; nil if it can.
  private func problem(of change: RecordChange) -> RecordError? {
    let id = change.id
    if let problem = CloudKitNames.problem(of: id) { return RecordError(.invalid(problem), of: id) }
    guard case .save(let record, let policy) = change else { return nil }
    let fields = record.fields(by: policy)
    for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
      if let problem = CloudKitNames.problem(ofKey: key) ?? value.problemInCloudKit
        ?? referenceProblem(of: value, in: id.zone)
      {
        return RecordError(.invalid("the field \(key) \(problem)"), of: id)
      }
    }
    let size = record.byteCount
    if size > Self.recordLimit {
      return RecordError(
        .invalid(
          "the record has \(size) bytes; CloudKit accepts \(Self.recordLimit): save large values as files"
        ), of: id)
    }
    return nil
  }

  /// The reason why a value cannot be saved in a zone; nil if it can. The reference of CloudKit
  /// (`CKRecordZone`) says that a reference must be to a record in the same zone.
  private func referenceProblem(of value: FieldValue, in zone: RecordZone) -> String? {
    let name = zoneID(of: zone).zoneName
    let targets = CloudKitReferenceTypes.references(in: value).map {
      zoneID(of: $0.id.zone).zoneName
    }
    return targets.first { $0 != name }.map { target in
      "has a reference to a record in the zone \(target.shortText), and this record is in the zone "
        + "\(name.shortText): in CloudKit, both must be in the same zone"
    }
  }

  /// Sets the errors of changes whose names other changes of the batch have: CloudKit accepts one
  /// change of a name.
  private func markRepeatedNames(in changes: [RecordChange], _ problems: inout [RecordError?]) {
    var names: Set<RecordID> = []
    for (index, change) in changes.enumerated() where problems[index] == nil {
      let name = RecordID("", change.id.name, in: change.id.zone)
      if names.insert(name).inserted { continue }
      problems[index] = RecordError(
        .invalid(
          "another record of the batch has the same name: in CloudKit, records of all types share their "
            + "names"), of: change.id)
    }
  }

  /// Sets the errors of deletions without a tag whose names belong to records of other types, to
  /// records that cannot be read, or to none. Which change of an atomic batch is missing first,
  /// CloudKit says.
  private func findMissing(
    of batch: RecordBatch, _ problems: inout [RecordError?]
  ) async throws {
    var deletions: [Int] = []
    for (index, change) in batch.changes.enumerated() where problems[index] == nil {
      if case .delete(_, nil) = change { deletions.append(index) }
    }
    if deletions.isEmpty { return }
    let found = try await records(named: deletions.map { batch.changes[$0].id }, keys: [])
    for index in deletions {
      let id = batch.changes[index].id
      if var failure = found.failures[id.withoutType] {
        failure.record = id
        problems[index] = failure
        continue
      }
      let type = found.records[id.withoutType]?.id.type
      if type == id.type || type == nil && batch.isAtomic { continue }
      problems[index] = RecordError(.unknownRecord, of: id)
    }
  }

  private func modify(
    _ changes: [RecordChange], in zone: RecordZone, isAtomic: Bool
  ) async throws -> [RecordReply] {
    let response: CloudKitRecordsResponse
    do {
      response = try await client.send(
        CloudKitModifyRequest(
          operations: changes.map { .init($0, addressed) }, zoneID: zoneID(of: zone),
          atomic: isAtomic),
        to: "records/modify", isWrite: true)
    } catch let error as RecordError {
      // The batch as a whole. CloudKit does not say which of its changes is the cause.
      guard case .batchFailed = error.reason else { throw error }
      return changes.map { .failed(RecordError(.batchFailed, of: $0.id)) }
    }
    let names = response.records.map { $0.recordName }
    guard names.count == changes.count,
      zip(names, changes).allSatisfy({ $0 == nil || $0 == $1.id.name })
    else {
      throw RecordError(.replyLost)
    }
    let saved: [RecordID: DatabaseRecord]
    // The changes may have been made.
    do { saved = try await savedRecords(response.records, of: changes, in: zone) } catch {
      throw RecordError(.replyLost)
    }
    let present = await conflicts(response.records, of: changes)
    let replies: [RecordReply] = try zip(response.records, changes).map { result, change in
      if let failure = result.failure {
        return .failed(error(of: failure, for: change, present: present))
      }
      guard case .save = change else { return .deleted }
      // A record of another type.
      guard let record = saved[change.id] else { throw RecordError(.replyLost) }
      return .saved(record)
    }
    if !isAtomic { return replies }
    for case .failed(let error) in replies {
      if case .replyLost = error.reason { throw RecordError(.replyLost) }
    }
    return replies.withOneCause
  }

  /// Returns the states of the saved records, by their IDs, without fields of types that are not
  /// supported.
  private func savedRecords(
    _ results: [CloudKitRecordResult], of changes: [RecordChange], in zone: RecordZone
  ) async throws -> [RecordID: DatabaseRecord] {
    var known: [RecordID: String] = [:]
    for case .save(let record, _) in changes {
      for key in record.keys {
        for reference in CloudKitReferenceTypes.references(in: record[key]) {
          known[RecordID("", reference.id.name, in: reference.id.zone)] = reference.id.type
        }
      }
    }
    let existing = results.filter { $0.failure == nil && $0.deleted != true }
    let records = try await self.records(of: existing, in: zone, afterSaving: known)
    return Dictionary(records.map { ($0.id, $0) }) { $1 }
  }

  /// Returns the states of records whose changes are in conflict; nil if they cannot be read.
  private func conflicts(
    _ results: [CloudKitRecordResult], of changes: [RecordChange]
  ) async -> NamedRecords? {
    let ids = zip(results, changes).compactMap { result, change in
      result.failure?.isConflict == true ? change.id : nil
    }
    return ids.isEmpty ? NamedRecords() : try? await records(named: ids, keys: nil)
  }

  /// - Parameter present: The records whose changes are in conflict.
  private func error(
    of failure: CloudKitFailure, for change: RecordChange, present: NamedRecords?
  ) -> RecordError {
    let id = change.id
    if failure.isConflict {
      guard let present, present.failures[id.withoutType] == nil else {
        return RecordError(
          .unavailable("\(failure.text), and the record cannot be read"), of: id)
      }
      guard let record = present.records[id.withoutType] else {
        // It was deleted in the meantime.
        if case .save(let sent, _) = change, sent.tag == nil {
          return RecordError(
            .unavailable("\(failure.text), and the record was deleted since"), of: id)
        }
        return RecordError(.unknownRecord, of: id)
      }
      if record.id.type != id.type {
        return RecordError(
          .invalid(
            "the name belongs to \(record.id): in CloudKit, records of all types share their names"),
          of: id)
      }
      return RecordError(.conflict(record), of: id)
    }
    if failure.isReferenceViolation, case .save(let record, let policy) = change {
      // CloudKit does not say which reference, so it is known only if there is one.
      let fields = record.fields(by: policy)
      let targets = fields.values.flatMap { CloudKitReferenceTypes.references(in: $0) }
        .filter { $0.onDelete != .keep }
      if let target = targets.first, targets.count == 1 {
        return RecordError(.referenceViolated(target.id), of: id)
      }
    }
    if failure.isReferenceViolation { return RecordError(.referenceViolated(id), of: id) }
    var error = failure.error(isWrite: true)
    error.record = id
    return error
  }
}

extension CloudKitModifyRequest.Operation {
  /// - Parameter addressed: Returns a value whose references name their zones.
  fileprivate init(_ change: RecordChange, _ addressed: (FieldValue) -> FieldValue) {
    switch change {
    case .save(let record, let policy):
      var sent = CloudKitRecordToSend(
        recordName: record.id.name, recordType: record.id.type,
        fields: record.fields(by: policy).mapValues { .value(addressed($0)) })
      switch policy {
      case .ifUnchanged:
        sent.recordChangeTag = record.tag?.description
        self.init(operationType: record.tag == nil ? .create : .update, record: sent)
      case .changedKeys, .allKeys: self.init(operationType: .forceUpdate, record: sent)
      case .replace: self.init(operationType: .forceReplace, record: sent)
      }
    case .delete(let id, let tag):
      self.init(
        operationType: tag == nil ? .forceDelete : .delete,
        record: CloudKitRecordToSend(
          recordName: id.name, recordType: id.type, recordChangeTag: tag?.description))
    }
  }
}

extension [RecordReply] {
  /// The replies to an atomic batch, of which only the first failure has a cause.
  fileprivate var withOneCause: [RecordReply] {
    let cause = firstIndex { reply in
      guard case .failed(let error) = reply else { return false }
      if case .batchFailed = error.reason { return false }
      return true
    }
    return enumerated().map { index, reply in
      guard case .failed(let error) = reply, index != cause else { return reply }
      return .failed(RecordError(.batchFailed, of: error.record))
    }
  }
}
