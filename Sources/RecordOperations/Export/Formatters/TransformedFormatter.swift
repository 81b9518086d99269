/// A formatter that transforms some values before it writes them. Create it with
/// `transforming(_:with:)`.
public struct TransformedFormatter<Base: RecordFormatter>: RecordFormatter {
  private let base: Base
  private let change: @Sendable (FieldValue, String) throws -> FieldValue

  fileprivate init(
    _ base: Base, _ change: @escaping @Sendable (FieldValue, String) throws -> FieldValue
  ) {
    self.base = base
    self.change = change
  }

  /// The extension of the base formatter.
  public var fileExtension: String { base.fileExtension }

  /// Appends the header of the base formatter.
  public func appendHeader(for columns: [String], to bytes: inout [UInt8]) throws {
    try base.appendHeader(for: columns, to: &bytes)
  }

  /// Appends a record with the base formatter.
  public func append(
    _ values: [FieldValue], for columns: [String], to bytes: inout [UInt8]
  ) throws {
    try base.append(values, for: columns, to: &bytes)
  }

  /// Appends the delimiter of the base formatter.
  public func appendDelimiter(to bytes: inout [UInt8]) { base.appendDelimiter(to: &bytes) }

  /// Appends the footer of the base formatter.
  public func appendFooter(
    for columns: [String], after count: Int, to bytes: inout [UInt8]
  ) throws {
    try base.appendFooter(for: columns, after: count, to: &bytes)
  }

  /// Applies the transform of the base formatter, and then the closure.
  public func transform(_ value: FieldValue, of column: String) throws -> FieldValue {
    try change(base.transform(value, of: column), column)
  }
}

extension RecordFormatter {
  /// Returns a formatter that transforms the values of some kinds before it writes them.
  ///
  /// ```swift
  /// import RecordOperations
  ///
  /// let formatter = CSVFormatter().transforming(.double) { value, column in
  ///   guard case .double(let price) = value else { return value }
  ///   return .integer(Int64((price * 100).rounded()))
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - kinds: The kinds of the values to transform; all kinds if none is given.
  ///   - change: Returns the value to write, given the value and the name of its column.
  public func transforming(
    _ kinds: FieldValue.Kind...,
    with change: @escaping @Sendable (_ value: FieldValue, _ column: String) throws -> FieldValue
  ) -> TransformedFormatter<Self> {
    TransformedFormatter(self) { value, column in
      kinds.isEmpty || kinds.contains(value.kind) ? try change(value, column) : value
    }
  }
}
