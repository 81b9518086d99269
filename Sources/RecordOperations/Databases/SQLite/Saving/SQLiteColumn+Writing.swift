internal import SQLiteSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension SQLiteColumn {
  /// Returns the value to store in the column for a field.
  ///
  /// - Parameter isOwn: Whether the table was created here. Other tables have no date columns, and
  ///   store dates as text.
  /// - Throws: A ``RecordError`` with the field, the type, the column and the value if the column
  ///   does not take it.
  func stored(_ value: FieldValue, of type: String, isOwn: Bool) throws -> SQLiteValue {
    guard isWritable else {
      throw RecordError(.invalid("the field \(name) of \(type) is computed: it cannot be set"))
    }
    do {
      if let stored = try stored(value, isOwn: isOwn) { return stored }
    } catch let error as RecordError {
      guard case .invalid(let reason) = error.reason else { throw error }
      throw RecordError(
        .invalid("the field \(name) of \(type) (\(declaredType)) is \(value.shortText): \(reason)"))
    }
    throw RecordError(
      .invalid(
        "the field \(name) of \(type) is \(value.shortText), but its column takes \(expectation)"))
  }

  /// - Returns: Nil if the column does not take this kind of value.
  private func stored(_ value: FieldValue, isOwn: Bool) throws -> SQLiteValue? {
    if case .double(let number) = value, number.isNaN {
      throw RecordError(.invalid("a database cannot store NaN"))
    }
    switch (meaning, value) {
    case (_, .null): return .null
    case (.date, .date(let date)): return .text(try date.storedText())
    case (.list, .list(let elements)): return .text(try FieldValue.listText(elements))
    case (.list, .string(let text)) where text.isOtherJSON: return .text(text)
    case (.keptReference, .reference(let reference)) where reference.onDelete == .keep:
      return .text(try reference.id.referenceText())
    case (.foreignKey(let type, let rule), .reference(let reference)):
      guard reference.onDelete == rule, reference.id == RecordID(type, reference.id.name) else {
        return nil
      }
      guard affinity == .integer else { return .text(reference.id.name) }
      return Int64(reference.id.name).flatMap {
        "\($0)" == reference.id.name ? .integer($0) : nil
      }
    case (.plain, _): return try plain(value, isOwn: isOwn)
    case (.date, _), (.list, _), (.keptReference, _), (.foreignKey, _): return nil
    }
  }

  private func plain(_ value: FieldValue, isOwn: Bool) throws -> SQLiteValue? {
    switch (affinity, value) {
    case (.integer, .integer(let number)), (.numeric, .integer(let number)): .integer(number)
    case (.real, .integer(let number)): Double(exactly: number).map { .real($0) }
    case (.real, .double(let number)), (.numeric, .double(let number)): .real(number)
    case (.text, .string(let text)): .text(text)
    // SQLite would convert text that looks like a number.
    case (.numeric, .string(let text)): text.looksLikeNumber ? nil : .text(text)
    case (.blob, .bytes(let bytes)): .blob(bytes)
    // A column without a type stores every value unchanged.
    case (.blob, .integer(let number)) where storesAnyValue: .integer(number)
    case (.blob, .double(let number)) where storesAnyValue: .real(number)
    case (.blob, .string(let text)) where storesAnyValue: .text(text)
    case (.text, .date(let date)), (.numeric, .date(let date)):
      isOwn ? nil : .text(try date.storedText())
    case (.blob, .date(let date)) where storesAnyValue && !isOwn: .text(try date.storedText())
    default: nil
    }
  }

  private var expectation: String {
    switch meaning {
    case .plain:
      switch affinity {
      case .integer: "integers (\(declaredType))"
      case .real: "numbers (\(declaredType)), and integers only if a double represents them exactly"
      case .numeric: "numbers (\(declaredType))"
      case .text: "text (\(declaredType))"
      case .blob: storesAnyValue ? "numbers, text and bytes" : "bytes (\(declaredType))"
      }
    case .date: "dates (\(declaredType))"
    case .list: "lists, and other JSON as text (\(declaredType))"
    case .keptReference: "references with the rule .keep (\(declaredType))"
    case .foreignKey(let type, let rule):
      "references to \(type) with the rule .\(rule.rawValue)"
        + (affinity == .integer ? " and an integer as the name" : "")
    }
  }
}

extension FieldValue {
  /// Returns the declaration of a column in a table that is created here, whose first value this
  /// is. It is empty for null, which determines no type.
  ///
  /// - Parameter keyColumn: Returns the declared type and the quoted name of the key of a table.
  /// - Throws: The error of `keyColumn`.
  func declaration(
    _ keyColumn: (_ type: String) throws -> (type: String, name: String)
  ) throws -> String {
    switch self {
    case .null: return ""
    case .integer: return "INTEGER"
    case .double: return "REAL"
    case .string: return "TEXT"
    case .bytes: return "BLOB"
    case .date: return "TEXT DATE"
    case .list: return "TEXT LIST"
    case .reference(let reference):
      guard let action = reference.onDelete.action else { return "TEXT REFERENCE" }
      let key = try keyColumn(reference.id.type)
      let table = try SQLiteName.quoted(reference.id.type)
      return "\(key.type) REFERENCES \(table)(\(key.name)) ON DELETE \(action)"
    }
  }
}

extension FieldValue {
  /// Returns the value as it is stored in a table that is created here, as a literal.
  ///
  /// - Returns: Nil if there is none.
  /// - Throws: A ``RecordError`` if it cannot be stored.
  func literal() throws -> String? {
    switch self {
    case .integer(let number): "\(number)"
    case .double(let number): number.isFinite ? "\(number)" : nil
    case .string(let text): try SQLiteName.literal(text)
    case .bytes(let bytes): SQLiteName.literal(bytes)
    case .date(let date): try SQLiteName.literal(date.storedText())
    case .list(let elements): try SQLiteName.literal(FieldValue.listText(elements))
    case .null, .reference: nil
    }
  }
}

extension RecordReference.DeleteRule {
  /// The action of the foreign key; nil if the rule needs no foreign key.
  fileprivate var action: String? {
    switch self {
    case .keep: nil
    case .nullify: "SET NULL"
    case .cascade: "CASCADE"
    case .deny: "NO ACTION"
    }
  }
}

extension Date {
  fileprivate func storedText() throws -> String {
    guard Self.texts.contains(self) else {
      throw RecordError(
        .invalid(
          """
          it is \(timeIntervalSince1970) seconds after the beginning of 1970; only dates from the \
          year 1 to the year 9999 of the Gregorian calendar can be stored
          """
        ))
    }
    return text
  }
}

extension String {
  /// Whether SQLite converts it to a number in a numeric column. Whitespace around a number is
  /// ignored.
  fileprivate var looksLikeNumber: Bool { Double(decimal: withoutSpaceAround) != nil }
}
