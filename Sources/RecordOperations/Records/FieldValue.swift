internal import SystemSupport

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The value of a field of a record.
///
/// ```swift
/// import RecordOperations
///
/// var book = DatabaseRecord("Book")
/// book["title"] = "Persuasion"
/// book["pages"] = 249
/// book["lent"] = nil
/// book["bought"] = .date(.now)
/// ```
public enum FieldValue: Hashable, Sendable {
  /// No value.
  case null
  case integer(Int64)
  /// A number with a fraction. NaN is invalid, because a database cannot store it.
  case double(Double)
  case string(String)
  case bytes([UInt8])
  /// A date, rounded to the millisecond.
  case date(Date)
  /// A reference to another record, which need not exist yet.
  case reference(RecordReference)
  /// A list of values, none of which is a list.
  case list([FieldValue])

  /// The kind of the value.
  public var kind: Kind {
    switch self {
    case .null: .null
    case .integer: .integer
    case .double: .double
    case .string: .string
    case .bytes: .bytes
    case .date: .date
    case .reference: .reference
    case .list: .list
    }
  }

  /// The kind of a value.
  public enum Kind: String, Hashable, Sendable {
    case null, integer, double, string, bytes, date, reference, list
  }
}

extension FieldValue {
  /// Whether ``toTheMillisecond`` is the value itself, because it contains no date.
  var isExact: Bool {
    switch self {
    case .date, .list: false
    case .null, .integer, .double, .string, .bytes, .reference: true
    }
  }

  /// The value as a database stores it, with dates rounded to the millisecond.
  var toTheMillisecond: FieldValue {
    switch self {
    case .date(let date): .date(date.toTheMillisecond)
    case .list(let values): .list(values.map(\.toTheMillisecond))
    case .null, .integer, .double, .string, .bytes, .reference: self
    }
  }
}

// Strings compare byte by byte: a database distinguishes strings that `String` considers equal.
extension FieldValue {
  /// Whether two values are of the same kind and equal. Strings are compared byte by byte.
  public static func == (one: FieldValue, other: FieldValue) -> Bool {
    switch (one, other) {
    case (.null, .null): true
    case (.integer(let one), .integer(let other)): one == other
    case (.double(let one), .double(let other)): one == other
    case (.string(let one), .string(let other)): one.hasSameBytes(as: other)
    case (.bytes(let one), .bytes(let other)): one == other
    case (.date(let one), .date(let other)): one == other
    case (.reference(let one), .reference(let other)): one == other
    case (.list(let one), .list(let other)): one == other
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .integer(let number): hasher.combine(number)
    case .double(let number): hasher.combine(number)
    case .string(let text): hasher.combine(text)
    case .bytes(let bytes): hasher.combine(bytes)
    case .date(let date): hasher.combine(date)
    case .reference(let reference): hasher.combine(reference)
    case .list(let values): hasher.combine(values)
    }
  }
}

extension FieldValue: ExpressibleByNilLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByStringInterpolation,
  ExpressibleByArrayLiteral
{
  public init(nilLiteral: ()) { self = .null }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(booleanLiteral value: Bool) { self = .integer(value ? 1 : 0) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(arrayLiteral elements: FieldValue...) { self = .list(elements) }
}

extension FieldValue {
  /// The reason why no database can store the value; `nil` if one can.
  package var problem: String? {
    switch self {
    case .double(let number) where number.isNaN: "is NaN, which no database can store"
    case .date(let date) where !Date.texts.contains(date):
      "is a date outside the years 1 to 9999, \(date.timeIntervalSince1970) seconds since 1970"
    case .list(let elements):
      elements.lazy.compactMap { element in
        switch element {
        case .list: "has a list in a list"
        case .reference(let reference) where reference.onDelete != .keep:
          "has a reference to \(reference.id) in a list, where its delete rule must be .keep"
        default: element.problem
        }
      }.first
    case .null, .integer, .double, .string, .bytes, .date, .reference: nil
    }
  }
}
