#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A field by its key, for predicates and orders.
///
/// ```swift
/// import RecordOperations
///
/// let thick = Field("pages") > 500 && Field("title").hasPrefix("P")
/// ```
///
/// With its type, once and for all:
///
/// ```swift
/// import RecordOperations
///
/// enum Books {
///   static let pages = Field<Int>("pages")
///   static let lent = Field<Date>("lent")
/// }
///
/// let found = Books.pages > 500 && Books.lent == nil
/// ```
///
/// Null is a value that is less and greater than nothing, and unequal to all others. So are values of another kind
/// than the one that a field is compared with: `Field("pages") < 100` is false where there are no pages, and
/// `!(Field("pages") < 100)` true. Integers and doubles are compared as numbers, exactly; texts, bytes and names of
/// records byte by byte.
public struct Field<Value: FieldConvertible>: Hashable, Sendable {
  public let key: String

  public init(_ key: String) { self.key = key }

  /// Whether it is null.
  public var isNull: RecordPredicate { .comparison(key, .equal, .null) }

  /// Whether it is one of these values.
  public func isOne(of values: [Value]) -> RecordPredicate {
    .comparing(key) { .isOne(key, of: try values.map { try $0.fieldValue.toTheMillisecond }) }
  }

  public static func == (field: Field, value: Value?) -> RecordPredicate {
    field.compared(.equal, value)
  }
  public static func != (field: Field, value: Value?) -> RecordPredicate {
    field.compared(.notEqual, value)
  }
  public static func < (field: Field, value: Value) -> RecordPredicate {
    field.compared(.less, value)
  }
  public static func <= (field: Field, value: Value) -> RecordPredicate {
    field.compared(.lessOrEqual, value)
  }
  public static func > (field: Field, value: Value) -> RecordPredicate {
    field.compared(.greater, value)
  }
  public static func >= (field: Field, value: Value) -> RecordPredicate {
    field.compared(.greaterOrEqual, value)
  }

  private func compared(_ comparison: RecordPredicate.Comparison, _ value: Value?)
    -> RecordPredicate
  {
    // Their texts are in another order.
    if value is Decimal, comparison != .equal, comparison != .notEqual {
      return .impossible(
        "the field \(key) has decimals, which are stored as strings and have no order: use == or !="
      )
    }
    return .comparing(key) {
      .comparison(key, comparison, try value.map { try $0.fieldValue.toTheMillisecond } ?? .null)
    }
  }

  /// By this field, the least first. Null is before all others.
  public var ascending: RecordOrder { RecordOrder(key, .ascending) }
  /// By this field, the greatest first.
  public var descending: RecordOrder { RecordOrder(key, .descending) }
}

extension Field where Value == String {
  /// Whether its text begins so, byte by byte.
  public func hasPrefix(_ prefix: String) -> RecordPredicate { .hasPrefix(key, prefix) }
  /// Whether its text has another one in it, byte by byte.
  public func contains(_ part: String) -> RecordPredicate { .contains(key, part) }
}

extension Field {
  /// Whether it is a list that has a value in it.
  public func includes<Element: FieldConvertible>(
    _ element: Element
  ) -> RecordPredicate where Value == [Element] {
    .comparing(key) { .includes(key, try element.fieldValue.toTheMillisecond) }
  }
}

/// By which field records are sorted.
public struct RecordOrder: Hashable, Sendable {
  public enum Direction: Hashable, Sendable { case ascending, descending }

  public let key: String
  public let direction: Direction

  public init(_ key: String, _ direction: Direction = .ascending) {
    self.key = key
    self.direction = direction
  }

  /// The least first. Null is before all others.
  public static func ascending(_ key: String) -> RecordOrder { RecordOrder(key, .ascending) }
  /// The greatest first.
  public static func descending(_ key: String) -> RecordOrder { RecordOrder(key, .descending) }
}
