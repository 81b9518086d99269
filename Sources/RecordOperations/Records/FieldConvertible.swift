/// A type whose values can be stored in a field.
///
/// Numbers, `Bool`, `String`, `Date`, `Data`, `UUID`, ``RecordReference``, and optionals and arrays
/// of them conform. Your own type converts itself to and from a field value, also as a property of
/// a `Codable` type:
///
/// ```swift
/// import RecordOperations
///
/// struct Money: FieldConvertible, Codable {
///   var cents: Int
///
///   init(fieldValue: FieldValue) throws { cents = try Int(fieldValue: fieldValue) }
///   var fieldValue: FieldValue { get throws { try cents.fieldValue } }
/// }
/// ```
public protocol FieldConvertible: Sendable {
  /// Creates a value from the value of a field.
  ///
  /// - Throws: A ``FieldValueError`` for a value of another kind.
  init(fieldValue: FieldValue) throws

  /// The value to store in a field.
  ///
  /// - Throws: A ``FieldValueError`` if no field can hold it.
  var fieldValue: FieldValue { get throws }
}

extension DatabaseRecord {
  /// Returns the value for a key, converted to a type.
  ///
  /// ```swift
  /// import RecordOperations
  ///
  /// let book = DatabaseRecord("Book", "9780141439600")
  /// let pages: Int = try book.value("pages")
  /// let lent: Date? = try book.value("lent")
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key of the field.
  ///   - type: The type of the value.
  /// - Throws: A ``FieldValueError`` with the record and the key if the value is of another kind,
  ///   or is null and the type is not optional.
  public func value<Value: FieldConvertible>(
    _ key: String, as type: Value.Type = Value.self
  ) throws -> Value {
    do { return try Value(fieldValue: self[key]) } catch let error as FieldValueError {
      throw error.at(key, of: id)
    }
  }
}
