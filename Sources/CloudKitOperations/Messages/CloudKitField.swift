internal import Foundation
internal import RecordOperations

/// A field of a record in a request or a response: a value with its type.
enum CloudKitField: Equatable {
  /// A value. The types of the records that references refer to are empty, because CloudKit does
  /// not store them.
  case value(FieldValue)
  /// A value of a type that no field can have, such as a location.
  case unsupported(type: String)
}

extension CloudKitField {
  /// The names of the types, as CloudKit has them.
  enum Kind: String {
    case integer = "INT64"
    case double = "DOUBLE"
    case string = "STRING"
    case bytes = "BYTES"
    case date = "TIMESTAMP"
    case reference = "REFERENCE"

    init?(_ value: FieldValue) {
      switch value {
      case .integer: self = .integer
      case .double: self = .double
      case .string: self = .string
      case .bytes: self = .bytes
      case .date: self = .date
      case .reference: self = .reference
      case .null, .list: return nil
      }
    }
  }

  private static let suffixOfLists = "_LIST"
  private static let emptyList = "EMPTY_LIST"

  struct Reference: Codable {
    var recordName: String
    var action: String
    var zoneID: CloudKitZoneID?
  }

  private enum CodingKeys: String, CodingKey { case value, type }
}

extension CloudKitField: Encodable {
  func encode(to encoder: any Encoder) throws {
    guard case .value(let value) = self else { return }
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch value {
    case .null: try container.encodeNil(forKey: .value)
    case .list(let elements):
      let kind = elements.first.flatMap { Kind($0) }
      try container.encode(
        kind.map { $0.rawValue + Self.suffixOfLists } ?? Self.emptyList, forKey: .type)
      var list = container.nestedUnkeyedContainer(forKey: .value)
      for element in elements { try list.encode(Element(value: element)) }
    default:
      try container.encode(Kind(value)?.rawValue, forKey: .type)
      try container.encode(Element(value: value), forKey: .value)
    }
  }

  /// A value that is no list.
  private struct Element: Encodable {
    let value: FieldValue

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch value {
      case .null, .list: try container.encodeNil()
      case .integer(let number): try container.encode(number)
      case .double(let number): try container.encode(number)
      case .string(let text): try container.encode(text)
      case .bytes(let bytes): try container.encode(Data(bytes).base64EncodedString())
      case .date(let date):
        try container.encode(Int64((date.timeIntervalSince1970 * 1_000).rounded()))
      case .reference(let reference):
        try container.encode(
          Reference(
            recordName: reference.id.name, action: reference.onDelete.action,
            zoneID: reference.id.zone == .default
              ? nil : CloudKitZoneID(zoneName: reference.id.zone.name)))
      }
    }
  }
}

extension CloudKitField: Decodable {
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard try container.contains(.value) && !container.decodeNil(forKey: .value) else {
      self = .value(.null)
      return
    }
    let type = try container.decodeIfPresent(String.self, forKey: .type)
    guard let type else {
      self = .value(try Self.inferred(from: container))
      return
    }
    if type == Self.emptyList {
      self = .value(.list([]))
    } else if let kind = Kind(rawValue: type) {
      self = .value(try Self.value(of: kind, from: container.superDecoder(forKey: .value)))
    } else if type.hasSuffix(Self.suffixOfLists),
      let kind = Kind(rawValue: String(type.dropLast(Self.suffixOfLists.count)))
    {
      var list = try container.nestedUnkeyedContainer(forKey: .value)
      var elements: [FieldValue] = []
      while !list.isAtEnd {
        elements.append(try Self.value(of: kind, from: list.superDecoder()))
      }
      self = .value(.list(elements))
    } else {
      self = .unsupported(type: type)
    }
  }

  private static func value(of kind: Kind, from decoder: any Decoder) throws -> FieldValue {
    let container = try decoder.singleValueContainer()
    switch kind {
    case .integer: return .integer(try container.decode(Int64.self))
    case .double: return .double(try container.decode(Double.self))
    case .string: return .string(try container.decode(String.self))
    case .bytes:
      guard let bytes = Data(base64Encoded: try container.decode(String.self)) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected base64")
      }
      return .bytes(Array(bytes))
    case .date:
      return .date(Date(timeIntervalSince1970: try container.decode(Double.self) / 1_000))
    case .reference:
      let reference = try container.decode(Reference.self)
      let zone = reference.zoneID.map { RecordZone($0.zoneName) } ?? .default
      return .reference(
        RecordReference(
          RecordID("", reference.recordName, in: zone),
          onDelete: RecordReference.DeleteRule(action: reference.action)))
    }
  }

  /// The value of a field without a type, which its JSON determines.
  private static func inferred(
    from container: KeyedDecodingContainer<CodingKeys>
  ) throws -> FieldValue {
    for kind in [Kind.string, .integer, .double, .reference] {
      if let value = try? value(of: kind, from: container.superDecoder(forKey: .value)) {
        return value
      }
    }
    throw DecodingError.dataCorruptedError(
      forKey: .value, in: container, debugDescription: "expected a value with its type")
  }
}

extension RecordReference.DeleteRule {
  /// The action of a reference in CloudKit.
  fileprivate var action: String {
    switch self {
    case .keep, .nullify: "NONE"
    case .cascade: "DELETE_SELF"
    case .deny: "VALIDATE"
    }
  }

  fileprivate init(action: String) {
    switch action {
    case "DELETE_SELF": self = .cascade
    case "VALIDATE": self = .deny
    default: self = .keep
    }
  }
}
