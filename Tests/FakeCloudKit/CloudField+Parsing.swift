import Foundation

extension CloudField {
  private static let scalars: Set = [
    "STRING", "INT64", "DOUBLE", "TIMESTAMP", "BYTES", "REFERENCE",
  ]

  /// Parses a record field dictionary.
  ///
  /// A field without a type gets the type of its value. A whole number in a field of type `DOUBLE`
  /// is a `DOUBLE`, because JSON does not distinguish it.
  ///
  /// - Parameters:
  ///   - path: The place of the field, for error messages.
  ///   - known: The type of the field in the schema; nil if it has none yet.
  ///   - zone: The zone of the record, in which the targets of its references must be; nil for a
  ///     filter.
  /// - Returns: Nil for the value `null`.
  init?(_ json: CloudValue, at path: String, known: String?, zone: String?) throws {
    let object = try RequestObject(json, at: path, keys: ["value", "type"])
    guard json["value"] != nil else {
      throw CloudError.badRequest("\(path): missing key 'value'")
    }
    let given = try object.string("type")
    guard let value = object["value"] else { return nil }
    var type = try given ?? Self.inferredType(of: value, at: path)
    if given == nil, let known, known.hasPrefix("DOUBLE"), type.hasPrefix("INT64") { type = known }
    switch value {
    case .array([]):
      guard type == "EMPTY_LIST" || Self.elementType(of: type) != nil else {
        throw CloudError.badRequest("\(path): [] is not a value of type \(type)")
      }
      self.init(type: "EMPTY_LIST", value: [])
    case .array(let elements):
      guard let element = Self.elementType(of: type) else {
        throw CloudError.badRequest("\(path): a list is not a value of type \(type)")
      }
      let list = try elements.map {
        try Self.checked($0, as: element, at: path, zone: zone)
      }
      self.init(type: type, value: .array(list))
    case .null, .boolean, .integer, .double, .string, .object:
      self.init(type: type, value: try Self.checked(value, as: type, at: path, zone: zone))
    }
  }

  /// The type of the elements of a list type; nil for other types.
  static func elementType(of type: String) -> String? {
    guard type.hasSuffix("_LIST") else { return nil }
    let element = String(type.dropLast(5))
    return scalars.contains(element) ? element : nil
  }

  /// Whether a field with a type in the schema can have a value of another type.
  static func matches(_ type: String, _ known: String) -> Bool {
    type == known || (type == "EMPTY_LIST" && elementType(of: known) != nil)
  }

  private static func inferredType(of value: CloudValue, at path: String) throws -> String {
    switch value {
    case .string: return "STRING"
    case .integer: return "INT64"
    case .double: return "DOUBLE"
    case .object: return "REFERENCE"
    case .array([]): return "EMPTY_LIST"
    case .array(let elements):
      let types = Set(try elements.map { try inferredType(of: $0, at: path) })
      if types == ["INT64", "DOUBLE"] { return "DOUBLE_LIST" }
      if let type = types.first, types.count == 1, scalars.contains(type) { return "\(type)_LIST" }
      throw CloudError.badRequest("\(path): a list with elements of different types")
    case .null, .boolean:
      throw CloudError.badRequest("\(path): the value has no type of CloudKit")
    }
  }

  private static func checked(
    _ value: CloudValue, as type: String, at path: String, zone: String?
  ) throws -> CloudValue {
    switch (type, value) {
    case ("STRING", .string), ("INT64", .integer), ("TIMESTAMP", .integer), ("DOUBLE", .double):
      return value
    case ("DOUBLE", .integer(let integer)): return .double(Double(integer))
    case ("BYTES", .string(let text)):
      if Data(base64Encoded: text) != nil { return value }
      throw CloudError.badRequest("\(path): the value of type BYTES is not base64")
    case ("REFERENCE", .object):
      let object = try RequestObject(value, at: path, keys: ["recordName", "action", "zoneID"])
      let name = try object.required("recordName", try object.string("recordName"))
      // The records of users, whose names begin with an underscore, can be referred to.
      try CloudNames.checkRecordName(
        name.hasPrefix("_") ? String(name.dropFirst()) : name, at: path)
      let action = try object.string("action") ?? "NONE"
      guard ["NONE", "DELETE_SELF", "VALIDATE"].contains(action) else {
        throw CloudError.badRequest("\(path): unknown action '\(action)' of a reference")
      }
      let target = try object.object("zoneID", keys: ["zoneName", "ownerRecordName"])
      if let zone, let target = try target?.string("zoneName"), target != zone {
        throw CloudError.badRequest("\(path): a reference to the other zone '\(target)'")
      }
      var members: [String: CloudValue] = [
        "recordName": .string(name), "action": .string(action),
      ]
      members["zoneID"] = object["zoneID"]
      return .object(members)
    default:
      let isKnown = scalars.contains(type) || elementType(of: type) != nil
      let problem = isKnown ? "the value is not of type \(type)" : "unsupported type '\(type)'"
      throw CloudError.badRequest("\(path): \(problem)")
    }
  }
}

/// The rules for names.
enum CloudNames {
  static func checkRecordName(_ name: String, at path: String) throws {
    guard (1...255).contains(name.utf8.count), name.utf8.allSatisfy({ $0 < 128 }),
      !name.hasPrefix("_")
    else {
      throw CloudError.badRequest(
        "\(path): record name '\(name)' must be 1 to 255 ASCII characters and not begin with '_'")
    }
  }

  /// - Parameter kind: The kind of the name, such as `record type`.
  static func checkIdentifier(_ name: String, _ kind: String, at path: String) throws {
    let isValid = name.utf8.allSatisfy {
      isLetter($0) || (48...57).contains($0) || $0 == UInt8(ascii: "_")
    }
    guard isValid, let first = name.utf8.first, isLetter(first), name.utf8.count <= 255 else {
      throw CloudError.badRequest(
        "\(path): \(kind) '\(name)' must begin with a letter and have only ASCII letters, digits "
          + "and '_', at most 255 characters")
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (65...90).contains(byte) || (97...122).contains(byte)
  }
}
