internal import Foundation
public import RecordOperations

extension CloudKitRecordDatabase {
  /// Reads records by their names, with one request for each zone.
  ///
  /// - Parameters:
  ///   - ids: At most as many as ``limits`` allow for a batch.
  ///   - keys: The fields to read; nil for all.
  /// - Returns: The records that exist with these types.
  /// - Throws: A `RecordError` if the limit is exceeded, a field cannot be read, or a request
  ///   fails; `CancellationError`.
  public func lookup(_ ids: [RecordID], keys: [String]?) async throws -> [RecordID: DatabaseRecord]
  {
    guard ids.count <= limits.items else { throw RecordError(.limitExceeded) }
    let named = try await records(named: ids, keys: keys)
    var found: [RecordID: DatabaseRecord] = [:]
    for id in ids {
      if var error = named.failures[id.withoutType] {
        error.record = id
        throw error
      }
      if let record = named.records[id.withoutType], record.id == id { found[id] = record }
    }
    return found
  }

  /// Records by their names, as IDs without a type. A name that no record has is in no dictionary.
  struct NamedRecords {
    var records: [RecordID: DatabaseRecord] = [:]
    /// The errors of records that cannot be read.
    var failures: [RecordID: RecordError] = [:]
  }

  /// Reads the records with the names of IDs, whatever their types.
  func records(named ids: [RecordID], keys: [String]?) async throws -> NamedRecords {
    var named = NamedRecords()
    for (zone, ids) in Dictionary(grouping: ids, by: \.zone) {
      // A name that CloudKit does not accept belongs to no record.
      let names = Set(ids.map(\.name).filter { CloudKitNames.problem(ofName: $0) == nil }).sorted()
      if names.isEmpty { continue }
      let response: CloudKitRecordsResponse = try await client.send(
        CloudKitLookupRequest(
          records: names.map { .init(recordName: $0) }, zoneID: zoneID(of: zone),
          desiredKeys: keys),
        to: "records/lookup")
      var existing: [CloudKitRecordResult] = []
      for result in response.records {
        guard let failure = result.failure else {
          if result.deleted != true { existing.append(result) }
          continue
        }
        if failure.serverErrorCode == "NOT_FOUND" { continue }
        guard let name = result.recordName else { throw failure.error(isWrite: false) }
        named.failures[RecordID("", name, in: zone)] = failure.error(isWrite: false)
      }
      for record in try await records(of: existing, in: zone) {
        named.records[record.id.withoutType] = record
      }
    }
    return named
  }

  /// Returns a page of the records that match a query. A type that CloudKit does not know has no
  /// records.
  ///
  /// - Throws: A `RecordError` if the query is invalid or CloudKit cannot evaluate it, a field
  ///   cannot be read, or the request fails; `CancellationError`.
  public func query(
    _ query: RecordQuery, after cursor: RecordCursor?, atMost count: Int
  ) async throws -> RecordPage {
    if let reason = query.predicate?.impossibility { throw RecordError(.invalid(reason)) }
    guard count >= 1 else {
      throw RecordError(.invalid("a page must have at least 1 record (was \(count))"))
    }
    var filters = try query.predicate?.filters() ?? []
    for index in filters.indices {
      guard case .value(let value) = filters[index].fieldValue else { continue }
      filters[index].fieldValue = .value(addressed(value))
    }
    let request = CloudKitQueryRequest(
      query: .init(
        recordType: query.type, filterBy: filters,
        sortBy: query.order.map {
          .init(fieldName: $0.key, ascending: $0.direction == .ascending)
        }),
      zoneID: zoneID(of: query.zone), resultsLimit: min(count, limits.page),
      desiredKeys: query.keys, continuationMarker: try cursor.map(marker))
    let response: CloudKitRecordsResponse
    do { response = try await client.send(request, to: "records/query") } catch let error
      as RecordError
    {
      if error.isAboutUnknownType { return RecordPage([], cursor: nil) }
      throw error
    }
    for result in response.records {
      if let failure = result.failure { throw failure.error(isWrite: false) }
    }
    let next = response.continuationMarker.map { RecordCursor([.string($0)]) }
    return RecordPage(try await records(of: response.records, in: query.zone), cursor: next)
  }

  private func marker(of cursor: RecordCursor) throws(RecordError) -> String {
    guard cursor.values.count == 1, case .string(let marker)? = cursor.values.first else {
      throw RecordError(.invalid("the cursor belongs to another query or database"))
    }
    return marker
  }

  /// Returns a page of changes since a token.
  ///
  /// CloudKit reports the name of a deleted record, but not its type: see
  /// ``CloudKitOptions/types``. Records of other types are left out.
  ///
  /// It does not report that a token has expired either: a request with a
  /// token that CloudKit rejects is followed by one without it.
  ///
  /// - Throws: A `RecordError` if the token has expired, the database or the zone does not report
  ///   changes, a field cannot be read, or the request fails; `CancellationError`.
  public func changes(since token: ChangeToken?, in zone: RecordZone) async throws -> ChangePage {
    let id = zoneID(of: zone)
    guard hasUser, scope == .private, id.zoneName != CloudKitOptions.defaultZone else {
      throw RecordError(
        .unsupported(
          "CloudKit reports changes only in a zone of a private database that was created: set the "
            + "zone in CloudKitOptions, and create it with createZone()"))
    }
    if options.types.isEmpty {
      throw RecordError(
        .unsupported(
          "CloudKit does not report the types of deleted records: list the types in CloudKitOptions"
        ))
    }
    let page: CloudKitChangesResponse.Zone
    do {
      page = try await changes(of: id, since: token, atMost: limits.page)
    } catch let error as RecordError {
      // The reference has no code for an expired token. The token is the cause if the same request
      // succeeds without it.
      guard token != nil, case .invalid = error.reason else { throw error }
      _ = try await changes(of: id, since: nil, atMost: 1)
      throw RecordError(.tokenExpired)
    }
    guard let next = page.syncToken else {
      throw RecordError(
        .other(CloudKitResponseError(operation: "changes/zone", cause: "it has no syncToken")))
    }
    // Records of other types may have fields that cannot be read, and belong to other programs.
    let types = Set(options.types)
    let results = (page.records ?? []).filter { $0.recordType.map(types.contains) ?? true }
    var failed: [RecordError] = []
    for result in results {
      guard let failure = result.failure else { continue }
      let error = failure.error(isWrite: false)
      // Without a name, it cannot be looked up.
      if result.recordName == nil { throw error }
      failed += ids(of: result, in: zone).map { RecordError(error.reason, of: $0) }
    }
    let readable = results.filter { $0.failure == nil }
    let changed = try await records(of: readable.filter { $0.deleted != true }, in: zone)
    let deleted = readable.filter { $0.deleted == true }.flatMap { ids(of: $0, in: zone) }
    var changes = ChangePage(
      changed: changed, deleted: deleted, token: ChangeToken(next),
      hasMore: page.moreComing ?? false)
    changes.failed = failed
    return changes
  }

  /// Returns the IDs that a record can have. CloudKit does not report the types of all records.
  private func ids(of result: CloudKitRecordResult, in zone: RecordZone) -> [RecordID] {
    (result.recordType.map { [$0] } ?? options.types).map {
      RecordID($0, result.recordName ?? "", in: zone)
    }
  }

  private func changes(
    of zone: CloudKitZoneID, since token: ChangeToken?, atMost count: Int
  ) async throws -> CloudKitChangesResponse.Zone {
    let response: CloudKitChangesResponse = try await client.send(
      CloudKitChangesRequest(
        zones: [.init(zoneID: zone, syncToken: token?.description)], resultsLimit: count),
      to: "changes/zone")
    guard let page = response.zones.first else {
      throw RecordError(
        .other(CloudKitResponseError(operation: "changes/zone", cause: "it has no zone")))
    }
    if let failure = page.failure { throw failure.error(isWrite: false) }
    return page
  }

  // MARK: Records

  /// Returns the records of a response.
  ///
  /// - Parameter saved: For the response to a save, the types of the records that the references of
  ///   the saved records refer to, by IDs without a type. A saved record is never an error because
  ///   of a field that was not saved.
  /// - Throws: A `RecordError` if a record has a value that no field can have.
  func records(
    of results: [CloudKitRecordResult], in zone: RecordZone,
    afterSaving saved: [RecordID: String]? = nil
  ) async throws -> [DatabaseRecord] {
    let records = try results.map {
      try record(of: $0, in: zone, leavingOutUnsupported: saved != nil)
    }
    let known = saved ?? [:]
    let resolver = CloudKitReferenceTypes(options.referenceTypes, known: known)
    let missing = records.reduce(into: Set<RecordID>()) { $0.formUnion(resolver.unknown(in: $1)) }
    if missing.isEmpty { return records.map { resolver.completed($0) } }
    do {
      let types = try await types(of: Array(missing))
      let complete = CloudKitReferenceTypes(
        options.referenceTypes, known: known.merging(types) { $1 })
      return records.map { complete.completed($0) }
    } catch  where saved != nil { return records.map { resolver.completed($0) } }
  }

  /// Returns the types of the records that exist, by IDs without a type.
  private func types(of ids: [RecordID]) async throws -> [RecordID: String] {
    var types: [RecordID: String] = [:]
    for chunk in ids.chunks(of: limits.items) {
      for (zone, ids) in Dictionary(grouping: chunk, by: \.zone) {
        let response: CloudKitRecordsResponse = try await client.send(
          CloudKitLookupRequest(
            records: ids.map { .init(recordName: $0.name) }, zoneID: zoneID(of: zone),
            desiredKeys: []),
          to: "records/lookup")
        for result in response.records {
          if let failure = result.failure {
            if failure.serverErrorCode == "NOT_FOUND" { continue }
            throw failure.error(isWrite: false)
          }
          guard let name = result.recordName else { continue }
          types[RecordID("", name, in: zone)] = result.recordType
        }
      }
    }
    return types
  }

  private func record(
    of result: CloudKitRecordResult, in zone: RecordZone, leavingOutUnsupported: Bool
  ) throws -> DatabaseRecord {
    guard let name = result.recordName, let type = result.recordType,
      let tag = result.recordChangeTag
    else {
      throw RecordError(
        .other(
          CloudKitResponseError(
            operation: "the request",
            cause: "a record has no name, no type or no tag: \(result.recordName ?? "no name")")))
    }
    let id = RecordID(type, name, in: zone)
    var fields: [String: FieldValue] = [:]
    for (key, field) in result.fields ?? [:] {
      switch field {
      case .value(let value): fields[key] = inZone(value, of: id)
      case .unsupported where leavingOutUnsupported: continue
      case .unsupported(let type):
        throw RecordError(
          .unsupported(
            "the field \(key) has the type \(type), which is not supported: name the fields to read"
          ),
          of: id)
      }
    }
    let modified = result.modified?.timestamp.map { Date(timeIntervalSince1970: $0 / 1_000) }
    return DatabaseRecord(id, fields: fields, tag: RecordTag(tag), modified: modified)
  }

  /// Returns a value whose references have the zone that they mean.
  private func inZone(_ value: FieldValue, of record: RecordID) -> FieldValue {
    switch value {
    case .reference(let reference):
      let name = reference.id.zone.name
      let target = name.isEmpty ? record.zone : zone(named: name)
      return .reference(
        RecordReference(RecordID("", reference.id.name, in: target), onDelete: reference.onDelete))
    case .list(let elements): return .list(elements.map { inZone($0, of: record) })
    case .null, .integer, .double, .string, .bytes, .date: return value
    }
  }
}

extension CloudKitRecordDatabase: TableDescribing {
  package func descriptions(of types: [String]) async throws -> [String: TableDescription]? {
    let unlisted = Set(types).subtracting(options.types).sorted()
    if unlisted.isEmpty { return nil }
    throw RecordError(
      .unsupported(
        "the types of CloudKitOptions do not have \(unlisted.joined(separator: ", ")), so their changes would be "
          + "missing: add them there, or leave them out of the mirrored types"))
  }
}

extension RecordID {
  /// The ID without its type: in CloudKit, records of all types share their names.
  var withoutType: RecordID { RecordID("", name, in: zone) }
}

extension Array {
  /// The elements in arrays of at most `count` elements.
  fileprivate func chunks(of count: Int) -> [ArraySlice<Element>] {
    stride(from: 0, to: self.count, by: count).map { self[$0..<Swift.min($0 + count, self.count)] }
  }
}

extension RecordError {
  /// Whether a query failed because no record of its type was ever saved. The reference has no code
  /// for it: iCloud says so in the reason.
  fileprivate var isAboutUnknownType: Bool {
    switch reason {
    case .unknownRecord: true
    case .invalid(let text): text.lowercased().contains("did not find record type")
    default: false
    }
  }
}
