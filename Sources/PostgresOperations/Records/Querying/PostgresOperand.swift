internal import RecordOperations
internal import SystemSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PostgresColumn {
  /// The expression for a column of text, compared byte by byte; nil for other columns.
  var textExpression: String? {
    switch kind {
    case .text: "t.\(quoted) COLLATE \"C\""
    case .uuid, .enumeration, .other: "(\(text)) COLLATE \"C\""
    case .integer, .boolean, .double, .real, .bytes, .date, .list, .keptReference, .null,
      .foreignKey:
      nil
    }
  }

  /// The expressions for the type and the name of a `.keep` reference.
  var referenceParts: (type: String, name: String) {
    let text = "t.\(quoted)::text COLLATE \"C\""
    return ("split_part(\(text), '/', 1)", "substr(\(text), strpos(\(text), '/') + 1)")
  }
}

extension SQLOperand<PostgresTypedValue> {
  /// - Parameter column: The compared column, of rows with the alias `t`.
  /// - Returns: Nil if the column cannot hold values of that kind, and for null and lists.
  init?(_ column: PostgresColumn, _ value: FieldValue) {
    let name = "t.\(column.quoted)"
    switch (column.kind, value) {
    case (.integer, .integer(let number)), (.boolean, .integer(let number)):
      self.init([(column.integerExpression, Value("\(number)", "bigint"))])
    case (.integer, .double(let number)), (.boolean, .double(let number)):
      if let whole = Int64(exactly: number) {
        self.init([(column.integerExpression, Value("\(whole)", "bigint"))])
      } else {
        // Beyond the range of integers, any number will do.
        let text = "\(min(max(number, -1e300), 1e300))"
        self.init([("\(column.integerExpression)::numeric", Value(text, "numeric"))])
      }
    case (.double, .double(let number)), (.real, .double(let number)):
      self.init([(column.doubleExpression, Value(number.postgresText, "double precision"))])
    case (.double, .integer(let number)), (.real, .integer(let number)):
      self.init(number, column.doubleExpression)
    case (.text, .string(let text)), (.uuid, .string(let text)), (.enumeration, .string(let text)),
      (.other, .string(let text)):
      let stored = column.encoded(text)
      guard let expression = column.textExpression else { return nil }
      // A text with a NUL sorts as the text without it and what follows, but before longer ones.
      guard !stored.utf8.contains(0) else {
        let start = String(decoding: stored.utf8.prefix { $0 != 0 }, as: UTF8.self)
        self.init([(expression, Value(start, "text")), ("0", Value("1", "integer"))])
        return
      }
      self.init([(expression, Value(stored, "text"))])
    case (.bytes, .bytes(let bytes)): self.init([(name, Value(bytes.postgresText, "bytea"))])
    case (.date, .date(let date)): self.init(date, column)
    case (.keptReference, .reference(let reference)): self.init(kept: reference.id, column)
    case (.foreignKey(let type, _, let isInteger), .reference(let reference)):
      self.init(reference.id, column, type, isInteger: isInteger)
    default: return nil
    }
  }

  private init(_ terms: [Term]) {
    self.init(terms: terms, condition: "TRUE", equalityImpliesCondition: true)
  }

  /// An integer that is compared with a double, exactly.
  private init(_ number: Int64, _ expression: String) {
    if let double = Double(exactly: number) {
      self.init([(expression, Value(double.postgresText, "double precision"))])
      return
    }
    // Between two doubles: greater than the lower one.
    let nearest = Double(number)
    let isGreater = Int64(exactly: nearest).map { $0 > number } ?? true
    let lower = isGreater ? nearest.nextDown : nearest
    self.init([
      (expression, Value(lower.postgresText, "double precision")), ("0", Value("1", "integer")),
    ])
  }

  private init(_ date: Date, _ column: PostgresColumn) {
    let isInRange = Date.texts.contains(date)
    let text =
      isInRange ? date.postgresText : date < Date.texts.lowerBound ? "-infinity" : "infinity"
    self.init(
      terms: [(column.date, Value(text, "timestamptz"))], condition: column.isDate,
      equalityImpliesCondition: isInRange)
  }

  /// A `.keep` reference.
  private init(kept id: RecordID, _ column: PostgresColumn) {
    let (text, parts) = ("t.\(column.quoted)::text", column.referenceParts)
    self.init(terms: [], condition: "strpos(\(text), '/') > 1", equalityImpliesCondition: false)
    let stored = (try? id.referenceText()).map(column.encoded)
    if let stored, !stored.utf8.contains(0) {
      terms = [("\(text) COLLATE \"C\"", Value(stored, "text"))]
      isSufficientForEquality = true
      equalityImpliesCondition = true
    }
    orderTerms =
      id.zone == .default
      ? [
        (parts.type, Value(column.encoded(id.type), "text")),
        (parts.name, Value(column.encoded(id.name), "text")),
      ] : [("0", Value("1", "integer"))]
  }

  /// A foreign key, whose values have the same zone and type.
  private init(_ id: RecordID, _ column: PostgresColumn, _ type: String, isInteger: Bool) {
    let text = "t.\(column.quoted)::text COLLATE \"C\""
    let isSame = id.zone == .default && id.type.hasSameBytes(as: type)
    guard isSame else {
      let isLess = RecordID(type, "").precedes(RecordID(id.type, "", in: id.zone))
      self.init([(isLess ? "0" : "1", Value(isLess ? "1" : "0", "integer"))])
      condition = "t.\(column.quoted) IS NOT NULL"
      equalityImpliesCondition = false
      return
    }
    self.init([(text, Value(column.encoded(id.name), "text"))])
    // With the type of the column, so that an index can be used.
    if !isInteger {
      self.init([("t.\(column.quoted) COLLATE \"C\"", Value(column.encoded(id.name), "text"))])
    }
  }
}

extension PostgresTypedValue {
  fileprivate init(_ text: String, _ type: String) { self.init(text: text, type: type) }
}

extension PostgresColumn {
  fileprivate var integerExpression: String {
    kind == .boolean ? "t.\(quoted)::int" : "t.\(quoted)"
  }

  fileprivate var doubleExpression: String {
    kind == .real ? "t.\(quoted)::double precision" : "t.\(quoted)"
  }
}
