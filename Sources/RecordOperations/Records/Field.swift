#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A field, named by its key, for predicates and orders.
///
/// ```swift
/// import RecordOperations
///
/// let thick = Field("pages") > 500 && Field("title").hasPrefix("P")
/// ```
///
/// A field can be declared once with its type:
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
/// Null is neither less nor greater than any value, and equal only to null. The same applies to a
/// value of another kind than the field is compared with: `Field("pages") < 100` is false for a
/// record without pages, and `!(Field("pages") < 100)` is true. Integers and doubles are compared
/// as numbers, exactly. Strings, bytes and the names of records are compared byte by byte.
public struct Field<Value: FieldConvertible>: Hashable, Sendable {
  /// The key of the field.
  public let key: String

  /// Creates a field with a key.
  public init(_ key: String) { self.key = key }

  /// A predicate for null.
  public var isNull: RecordPredicate { .comparison(key, .equal, .null) }

  /// Returns a predicate for any of these values.
  public func isOne(of values: [Value]) -> RecordPredicate {
    .comparing(key) { .isOne(key, of: try values.map { try $0.fieldValue.toTheMillisecond }) }
  }

  /// Returns a predicate for an equal value; for null if the value is `nil`.
  public static func == (field: Field, value: Value?) -> RecordPredicate {
    field.compared(.equal, value)
  }
  /// Returns a predicate for any other value, including null; for any value but null if the value
  /// is `nil`.
  public static func != (field: Field, value: Value?) -> RecordPredicate {
    field.compared(.notEqual, value)
  }
  /// Returns a predicate for a smaller value.
  public static func < (field: Field, value: Value) -> RecordPredicate {
    field.compared(.less, value)
  }
  /// Returns a predicate for a smaller or equal value.
  public static func <= (field: Field, value: Value) -> RecordPredicate {
    field.compared(.lessOrEqual, value)
  }
  /// Returns a predicate for a larger value.
  public static func > (field: Field, value: Value) -> RecordPredicate {
    field.compared(.greater, value)
  }
  /// Returns a predicate for a larger or equal value.
  public static func >= (field: Field, value: Value) -> RecordPredicate {
    field.compared(.greaterOrEqual, value)
  }

  private func compared(_ comparison: RecordPredicate.Comparison, _ value: Value?)
    -> RecordPredicate
  {
    // The order of their strings is not the order of the numbers.
    if value is Decimal, comparison != .equal, comparison != .notEqual {
      return .impossible(
        "the field \(key) has decimals, which are stored as strings and have no order: use == or !="
      )
    }
    return .comparing(key) {
      .comparison(key, comparison, try value.map { try $0.fieldValue.toTheMillisecond } ?? .null)
    }
  }

  /// An order by this field, smallest value first. Null comes before all other values.
  public var ascending: RecordOrder { RecordOrder(key, .ascending) }
  /// An order by this field, largest value first. Null comes after all other values.
  public var descending: RecordOrder { RecordOrder(key, .descending) }
}

extension Field where Value == String {
  /// Returns a predicate for strings with a prefix, compared byte by byte.
  public func hasPrefix(_ prefix: String) -> RecordPredicate { .hasPrefix(key, prefix) }
  /// Returns a predicate for strings that contain another one, compared byte by byte.
  public func contains(_ part: String) -> RecordPredicate { .contains(key, part) }
}

extension Field {
  /// Returns a predicate for lists that include a value.
  public func includes<Element: FieldConvertible>(
    _ element: Element
  ) -> RecordPredicate where Value == [Element] {
    .comparing(key) { .includes(key, try element.fieldValue.toTheMillisecond) }
  }
}

/// A field by which records are sorted, and the direction.
///
/// ```swift
/// import RecordOperations
///
/// let query = RecordQuery("Book", sortedBy: [.ascending("author"), .descending("pages")])
/// ```
public struct RecordOrder: Hashable, Sendable {
  /// The direction of an order.
  public enum Direction: Hashable, Sendable { case ascending, descending }

  /// The key of the field.
  public let key: String
  /// The direction of the order.
  public let direction: Direction

  /// Creates an order by a field.
  public init(_ key: String, _ direction: Direction = .ascending) {
    self.key = key
    self.direction = direction
  }

  /// Returns an order by a field, smallest value first. Null comes before all other values.
  public static func ascending(_ key: String) -> RecordOrder { RecordOrder(key, .ascending) }
  /// Returns an order by a field, largest value first. Null comes after all other values.
  public static func descending(_ key: String) -> RecordOrder { RecordOrder(key, .descending) }
}
