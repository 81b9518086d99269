/// A field of a query: of the record, or one that the server maintains.
struct CloudQueryField: Sendable {
  /// Assumption: the system fields of queries have the names of CloudKit JS in `systemFieldName`,
  /// and the names of the index in `fieldName`.
  private static let systemFields = [
    "createdTimestamp": "___createTime", "modifiedTimestamp": "___modTime",
    "createdUserRecordName": "___createdBy", "modifiedUserRecordName": "___modifiedBy",
  ]

  private(set) var name: String
  /// The type in the schema.
  private(set) var type: String

  init(_ object: RequestObject, recordType: String, schema: [String: String]) throws {
    if let system = try object.string("systemFieldName") {
      guard object["fieldName"] == nil, let name = Self.systemFields[system] else {
        throw CloudError.badRequest("unsupported systemFieldName '\(system)'")
      }
      self.name = name
    } else {
      name = try object.required("fieldName", try object.string("fieldName"))
    }
    switch name {
    case "___createTime", "___modTime": type = "TIMESTAMP"
    case "___createdBy", "___modifiedBy": type = "REFERENCE"
    default:
      guard let type = schema[name] else {
        throw CloudError.badRequest("unknown field '\(name)' of the record type '\(recordType)'")
      }
      self.type = type
    }
  }

  func value(in record: CloudRecord) -> CloudValue? {
    switch name {
    case "___createTime": .integer(record.created.time.cloudMilliseconds)
    case "___modTime": .integer(record.modified.time.cloudMilliseconds)
    case "___createdBy": ["recordName": .string(record.created.user)]
    case "___modifiedBy": ["recordName": .string(record.modified.user)]
    default: record.fields[name]?.value
    }
  }

  /// Whether a value is less than another of the same type; nil for types without an order.
  static func isLess(_ a: CloudValue, _ b: CloudValue) -> Bool? {
    switch (a, b) {
    case (.integer(let a), .integer(let b)): a < b
    case (.double(let a), .double(let b)): a < b
    // Assumption: text is ordered by its UTF-8 bytes.
    case (.string(let a), .string(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
    default: nil
    }
  }
}

/// A filter of a query.
struct CloudFilter: Sendable {
  private static let ordered: Set = ["STRING", "INT64", "DOUBLE", "TIMESTAMP"]

  private let field: CloudQueryField
  private let comparator: String
  private let value: CloudValue

  init(_ object: RequestObject, recordType: String, schema: [String: String]) throws {
    field = try CloudQueryField(object, recordType: recordType, schema: schema)
    comparator = try object.required("comparator", try object.string("comparator"))
    let json = try object.required("fieldValue", object["fieldValue"])
    let path = "filter of '\(field.name)'"
    let element = CloudField.elementType(of: field.type)
    let expected: String
    switch comparator {
    case "EQUALS", "NOT_EQUALS":
      expected = element == nil ? field.type : ""
    case "LESS_THAN", "LESS_THAN_OR_EQUALS", "GREATER_THAN", "GREATER_THAN_OR_EQUALS":
      expected = Self.ordered.contains(field.type) ? field.type : ""
    case "IN", "NOT_IN": expected = element == nil ? "\(field.type)_LIST" : ""
    case "BEGINS_WITH", "NOT_BEGINS_WITH", "CONTAINS_ALL_TOKENS":
      expected = field.type == "STRING" ? "STRING" : ""
    case "LIST_CONTAINS": expected = element ?? ""
    default:
      throw CloudError.badRequest("\(path): unsupported comparator '\(comparator)'")
    }
    guard !expected.isEmpty else {
      throw CloudError.badRequest(
        "\(path): '\(comparator)' is not possible for the type \(field.type)")
    }
    // The zone of a reference in a filter has no effect.
    let parsed = try CloudField(json, at: path, known: expected, zone: nil)
    guard let parsed, CloudField.matches(parsed.type, expected) else {
      throw CloudError.badRequest(
        "\(path): the value must have the type \(expected), not \(parsed?.type ?? "null")")
    }
    value = parsed.value
  }

  func matches(_ record: CloudRecord) -> Bool {
    let stored = field.value(in: record)
    // Assumption: the negative comparators also match records without the field.
    switch comparator {
    case "EQUALS": return isEqual(stored, value)
    case "NOT_EQUALS": return !isEqual(stored, value)
    case "IN": return isElement(stored)
    case "NOT_IN": return !isElement(stored)
    case "BEGINS_WITH": return begins(stored)
    case "NOT_BEGINS_WITH": return !begins(stored)
    case "LIST_CONTAINS":
      guard case .array(let elements)? = stored else { return false }
      return elements.contains { isEqual($0, value) }
    case "CONTAINS_ALL_TOKENS":
      guard case .string(let text)? = stored, case .string(let wanted) = value else { return false }
      return Self.tokens(of: wanted).isSubset(of: Self.tokens(of: text))
    default: break
    }
    guard let stored else { return false }
    return switch comparator {
    case "LESS_THAN": CloudQueryField.isLess(stored, value) ?? false
    case "LESS_THAN_OR_EQUALS": !(CloudQueryField.isLess(value, stored) ?? true)
    case "GREATER_THAN": CloudQueryField.isLess(value, stored) ?? false
    default: !(CloudQueryField.isLess(stored, value) ?? true)
    }
  }

  /// References are equal if they have the same target.
  private func isEqual(_ a: CloudValue?, _ b: CloudValue) -> Bool {
    guard let a else { return false }
    if case .object = b { return a["recordName"] == b["recordName"] }
    // Text is equal by its bytes, not by canonical equivalence.
    if case (.string(let a), .string(let b)) = (a, b) { return a.utf8.elementsEqual(b.utf8) }
    return a == b
  }

  private func isElement(_ stored: CloudValue?) -> Bool {
    guard case .array(let elements) = value else { return false }
    return elements.contains { isEqual(stored, $0) }
  }

  private func begins(_ stored: CloudValue?) -> Bool {
    guard case .string(let text)? = stored, case .string(let prefix) = value else { return false }
    return text.utf8.starts(with: prefix.utf8)
  }

  private static func tokens(of text: String) -> Set<String> {
    Set(text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init))
  }
}
