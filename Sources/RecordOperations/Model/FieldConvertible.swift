/// What can be the value of a field.
///
/// Numbers, `Bool`, `String`, `Date`, `Data`, `UUID`, ``RecordReference``, and optionals and arrays of them are. A type of
/// your own says what it is in a field, in a `Codable` type too:
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
  /// - Throws: A ``FieldValueError`` if it is a value of another kind.
  init(fieldValue: FieldValue) throws

  /// - Throws: A ``FieldValueError`` if no field can have this.
  var fieldValue: FieldValue { get throws }
}

extension DatabaseRecord {
  /// The value for a key as one of a type.
  ///
  /// ```swift
  /// import RecordOperations
  ///
  /// let book = DatabaseRecord("Book", "9780141439600")
  /// let pages: Int = try book.value("pages")
  /// let lent: Date? = try book.value("lent")
  /// ```
  ///
  /// - Throws: A ``FieldValueError`` that names record and key if it is a value of another kind, or null and the
  ///   type is not optional.
  public func value<Value: FieldConvertible>(
    _ key: String, as type: Value.Type = Value.self
  ) throws -> Value {
    do { return try Value(fieldValue: self[key]) } catch let error as FieldValueError {
      throw error.at(key, of: id)
    }
  }
}
