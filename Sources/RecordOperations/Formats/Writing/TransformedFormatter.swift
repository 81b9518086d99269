/// A formatter that writes something else for some values. `transforming(_:with:)` makes it.
public struct TransformedFormatter<Base: RecordFormatter>: RecordFormatter {
  private let base: Base
  private let change: @Sendable (FieldValue, String) throws -> FieldValue

  fileprivate init(
    _ base: Base, _ change: @escaping @Sendable (FieldValue, String) throws -> FieldValue
  ) {
    self.base = base
    self.change = change
  }

  public var fileExtension: String { base.fileExtension }

  public func appendHeader(for columns: [String], to bytes: inout [UInt8]) throws {
    try base.appendHeader(for: columns, to: &bytes)
  }

  public func append(
    _ values: [FieldValue], for columns: [String], to bytes: inout [UInt8]
  ) throws {
    try base.append(values, for: columns, to: &bytes)
  }

  public func appendDelimiter(to bytes: inout [UInt8]) { base.appendDelimiter(to: &bytes) }

  public func appendFooter(
    for columns: [String], after count: Int, to bytes: inout [UInt8]
  ) throws {
    try base.appendFooter(for: columns, after: count, to: &bytes)
  }

  public func transform(_ value: FieldValue, of column: String) throws -> FieldValue {
    try change(base.transform(value, of: column), column)
  }
}

extension RecordFormatter {
  /// A formatter that writes something else for the values of some kinds.
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
  ///   - kinds: Which values it is asked for; all, if none is named.
  ///   - change: Gets the value and its column, and returns what is written for it.
  public func transforming(
    _ kinds: FieldValue.Kind...,
    with change: @escaping @Sendable (_ value: FieldValue, _ column: String) throws -> FieldValue
  ) -> TransformedFormatter<Self> {
    TransformedFormatter(self) { value, column in
      kinds.isEmpty || kinds.contains(value.kind) ? try change(value, column) : value
    }
  }
}
