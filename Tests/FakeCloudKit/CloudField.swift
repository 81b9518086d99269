package import Foundation

/// The value of a field, with its type.
package struct CloudField: Sendable, Equatable {
  /// The type, such as `STRING` or `INT64_LIST`.
  package var type: String
  /// The value in the format of CloudKit Web Services.
  package var value: CloudValue

  /// Creates a field without validation.
  package init(type: String, value: CloudValue) {
    self.type = type
    self.value = value
  }

  package static func string(_ value: String) -> CloudField {
    CloudField(type: "STRING", value: .string(value))
  }

  package static func int64(_ value: Int64) -> CloudField {
    CloudField(type: "INT64", value: .integer(value))
  }

  package static func double(_ value: Double) -> CloudField {
    CloudField(type: "DOUBLE", value: .double(value))
  }

  package static func bytes(_ value: Data) -> CloudField {
    CloudField(type: "BYTES", value: .string(value.base64EncodedString()))
  }

  /// A point in time, with a resolution of 1 millisecond.
  package static func timestamp(_ value: Date) -> CloudField {
    CloudField(type: "TIMESTAMP", value: .integer(value.cloudMilliseconds))
  }

  /// - Parameter action: `NONE`, `DELETE_SELF` or `VALIDATE`.
  package static func reference(_ name: String, action: String = "NONE") -> CloudField {
    CloudField(
      type: "REFERENCE", value: ["recordName": .string(name), "action": .string(action)])
  }

  /// The references in the field, as pairs of record name and action.
  var references: [(name: String, action: String)] {
    let elements: [CloudValue] =
      if case .array(let array) = value { array } else { [value] }
    guard type.hasPrefix("REFERENCE") else { return [] }
    return elements.compactMap {
      guard case .string(let name)? = $0["recordName"] else { return nil }
      if case .string(let action)? = $0["action"] { return (name, action) }
      return (name, "NONE")
    }
  }

  /// The size in bytes that counts for the limit of a record: numbers and dates count 8 bytes.
  var size: Int { size(of: value) }

  private func size(of value: CloudValue) -> Int {
    switch value {
    case .null, .boolean, .integer, .double: 8
    case .string(let text):
      type.hasPrefix("BYTES") ? Data(base64Encoded: text)?.count ?? 0 : text.utf8.count
    case .array(let array): array.reduce(0) { $0 + size(of: $1) }
    case .object(let object): object.values.reduce(0) { $0 + size(of: $1) }
    }
  }
}

extension Date {
  var cloudMilliseconds: Int64 { Int64((timeIntervalSince1970 * 1_000).rounded()) }
}
