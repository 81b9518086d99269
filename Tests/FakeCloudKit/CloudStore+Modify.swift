import Foundation

/// An operation of `records/modify`.
private struct ModifyOperation {
  var kind: String
  var name: String?
  var type: String?
  var tag: String?
  var fields: [String: CloudValue]
  var path: String

  private static let kinds: Set = [
    "create", "update", "forceUpdate", "replace", "forceReplace", "delete", "forceDelete",
  ]

  init(_ object: RequestObject, number: Int) throws {
    kind = try object.required("operationType", try object.string("operationType"))
    path = "operations[\(number)]"
    guard Self.kinds.contains(kind) else {
      throw CloudError.badRequest("\(path): unknown operationType '\(kind)'")
    }
    let keys: Set = ["recordName", "recordType", "recordChangeTag", "fields"]
    let record = try object.required("record", try object.object("record", keys: keys))
    name = try record.string("recordName")
    type = try record.string("recordType")
    tag = try record.string("recordChangeTag")
    fields = [:]
    if let value = record["fields"] {
      guard case .object(let members) = value else {
        throw CloudError.badRequest("\(path): 'fields' must be a dictionary")
      }
      fields = members
    }
    if kind != "create" { name = try record.required("recordName", name) }
    if ["create", "forceUpdate"].contains(kind) {
      type = try record.required("recordType", type)
    }
    if ["update", "replace"].contains(kind) { tag = try record.required("recordChangeTag", tag) }
    if kind == "create", tag != nil {
      throw CloudError.badRequest("\(path): 'recordChangeTag' in an operation 'create'")
    }
    if isDeletion, !fields.isEmpty {
      throw CloudError.badRequest("\(path): 'fields' in an operation '\(kind)'")
    }
  }

  var isDeletion: Bool { kind == "delete" || kind == "forceDelete" }
  var replaces: Bool { ["create", "replace", "forceReplace"].contains(kind) }
}

extension CloudStore {
  mutating func modify(_ body: CloudValue, _ context: CloudContext) throws -> CloudValue {
    let request = try RequestObject(
      body, at: "request",
      keys: ["operations", "zoneID", "atomic", "desiredKeys", "numbersAsStrings"])
    let objects = try request.required(
      "operations", try request.objects("operations", keys: ["operationType", "record"]))
    if objects.count > options.limits.operations {
      throw CloudError.badRequest(
        "\(objects.count) operations exceed the limit of \(options.limits.operations)")
    }
    var operations = try objects.enumerated().map { try ModifyOperation($1, number: $0) }
    for index in operations.indices where operations[index].name == nil {
      operations[index].name = "assigned-\(nextSequence())"
    }
    let names = operations.compactMap(\.name)
    if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
      throw CloudError.badRequest("more than one operation for the record '\(twice)'")
    }
    let format = CloudRecordFormat(
      desiredKeys: try request.strings("desiredKeys"),
      numbersAsStrings: try request.boolean("numbersAsStrings") ?? false)
    let id = try CloudZoneID(try request.object("zoneID", keys: CloudZoneID.keys))
    var zone = try zone(id, context)
    // The reference: atomic requests are possible in custom zones only.
    let isAtomic = try request.boolean("atomic") ?? true && !zone.isDefault

    var changed = self
    let results = operations.map { operation in
      Result<CloudValue, any Error> {
        try changed.apply(operation, to: &zone, format: format, context)
      }
    }
    let isRejected = isAtomic && results.contains { (try? $0.get()) == nil }
    if !isRejected {
      changed.databases[context.key, default: Database()].zones[zone.name] = zone
      self = changed
    } else if options.rejectsAtomicRequests {
      throw CloudError("ATOMIC_ERROR", "an operation of the atomic request failed")
    }
    // Assumption: each other operation of a failed atomic request has the error ATOMIC_ERROR.
    let atomicError = CloudError("ATOMIC_ERROR", "another operation of the atomic request failed")
    let items = zip(names, results).map { name, result -> CloudValue in
      do {
        let item = try result.get()
        return isRejected ? Self.failure(of: name, atomicError) : item
      } catch {
        return Self.failure(of: name, error)
      }
    }
    return ["records": .array(items)]
  }

  /// The record fetch error dictionary.
  static func failure(of name: String, _ error: any Error) -> CloudValue {
    let error = error as? CloudError ?? CloudError("INTERNAL_ERROR", "\(error)")
    return .object(error.members.merging(["recordName": .string(name)]) { $1 })
  }

  /// Applies an operation. An operation that throws an error changes nothing.
  private mutating func apply(
    _ operation: ModifyOperation, to zone: inout CloudZone, format: CloudRecordFormat,
    _ context: CloudContext
  ) throws -> CloudValue {
    let name = operation.name ?? ""
    let stored = zone.records[name]
    if let code = context.failures[name] {
      throw CloudError.injected(code)
    }
    try CloudNames.checkRecordName(name, at: operation.path)
    switch operation.kind {
    case "create":
      if stored != nil { throw CloudError("EXISTS", "record '\(name)' exists already") }
    case "update", "replace", "delete", "forceDelete":
      guard let stored else { throw CloudError("NOT_FOUND", "did not find record '\(name)'") }
      if let tag = operation.tag, operation.kind != "forceDelete", tag != stored.tag {
        throw CloudError(
          "CONFLICT", "record '\(name)' has the tag '\(stored.tag)', the operation has '\(tag)'")
      }
    default: break
    }
    if operation.isDeletion {
      for victim in try zone.cascade(from: name) { zone.delete(victim, at: nextSequence()) }
      return Self.deletion(of: name, type: stored?.type, options)
    }
    guard let type = stored?.type ?? operation.type else {
      throw CloudError.badRequest("\(operation.path): missing key 'recordType' of a new record")
    }
    if let given = operation.type, given != type {
      throw CloudError.badRequest("record '\(name)' has the type '\(type)', not '\(given)'")
    }
    try CloudNames.checkIdentifier(type, "record type", at: operation.path)
    let fields = try fields(of: operation, type: type, stored: stored, in: zone)
    let record = save(
      name, type: type, fields: fields, in: &zone, user: context.user ?? "", now: context.now)
    return format.json(record)
  }

  /// The deleted record in a result and in changes.
  static func deletion(
    of name: String, type: String?, _ options: FakeCloudKit.Options
  ) -> CloudValue {
    var members: [String: CloudValue] = ["recordName": .string(name), "deleted": true]
    if options.namesTypesOfDeletedRecords { members["recordType"] = type.map(CloudValue.string) }
    return .object(members)
  }

  private func fields(
    of operation: ModifyOperation, type: String, stored: CloudRecord?, in zone: CloudZone
  ) throws -> [String: CloudField] {
    var fields = operation.replaces ? [:] : stored?.fields ?? [:]
    for (key, json) in operation.fields.sorted(by: { $0.key < $1.key }) {
      let path = "\(operation.path).fields.\(key)"
      try CloudNames.checkIdentifier(key, "field name", at: path)
      let known = schema[type]?[key]
      let field = try CloudField(json, at: path, known: known, zone: zone.name)
      if let field, let known, !CloudField.matches(field.type, known) {
        throw CloudError.badRequest(
          "invalid value, expected type \(known) for field '\(key)' of '\(type)', not \(field.type)"
        )
      }
      fields[key] = field
      try checkTargets(of: field, from: operation.name ?? "", in: zone)
    }
    let size = fields.reduce(0) { $0 + $1.key.utf8.count + $1.value.size }
    if size > options.limits.recordBytes {
      throw CloudError.badRequest(
        "record of \(size) bytes exceeds the limit of \(options.limits.recordBytes) bytes")
    }
    return fields
  }

  private func checkTargets(
    of field: CloudField?, from source: String, in zone: CloudZone
  ) throws {
    for target in field?.references ?? [] where target.action != "NONE" {
      if zone.records[target.name] == nil, target.name != source {
        throw CloudError(
          "VALIDATING_REFERENCE_ERROR", "did not find the target '\(target.name)' of a reference")
      }
      if target.action == "DELETE_SELF" {
        let sources = zone.sources(of: target.name, action: "DELETE_SELF")
        if Set(sources + [source]).count > options.limits.deletingReferences {
          throw CloudError.badRequest(
            "more than \(options.limits.deletingReferences) DELETE_SELF references to "
              + "'\(target.name)'")
        }
      }
    }
  }
}
