internal import RecordOperations
internal import SystemSupport

/// Creates tables from the rows of ``PostgresSchemaStatements``.
struct PostgresTableReader {
  private typealias TypeName = PostgresRecordSchema.TypeName

  private struct Column {
    let name: String
    let declaredType: String
    let castType: String
    let base: String
    let typeKind: String
    let modifier: Int64
    let ownDomain: String?
    let isGenerated: Bool
  }

  private struct Key {
    let isPrimary: Bool
    let columns: [String]
    /// The referenced type, if the key refers to the names of its records.
    let parent: String?
    let rule: RecordReference.DeleteRule
    let isParentOwn: Bool
  }

  private let schema: PostgresRecordSchema
  private var columns: [TypeName: [Column]] = [:]
  private var keys: [TypeName: [Key]] = [:]

  init(_ schema: PostgresRecordSchema, columns: PostgresRows, keys: PostgresRows) {
    self.schema = schema
    for row in 0..<columns.count {
      func text(_ column: Int) -> String { columns.text(row, column) ?? "" }
      self.columns[TypeName(text(0)), default: []].append(
        Column(
          name: text(1), declaredType: text(2), castType: text(3), base: text(4),
          typeKind: text(5), modifier: columns.integer(row, 6) ?? -1,
          ownDomain: columns.text(row, 7), isGenerated: columns.boolean(row, 8) ?? false))
    }
    for row in 0..<keys.count {
      func text(_ column: Int) -> String { keys.text(row, column) ?? "" }
      let isOfNames = keys.boolean(row, 4) == true && keys.boolean(row, 5) == true
      self.keys[TypeName(text(0)), default: []].append(
        Key(
          isPrimary: text(1) == "p", columns: Self.names(text(2)),
          parent: isOfNames ? text(3) : nil, rule: Self.rule(text(6)),
          isParentOwn: keys.boolean(row, 7) ?? false))
    }
  }

  /// The names in a list as JSON.
  static func names(_ json: String) -> [String] {
    guard case .list(let parts)? = JSONValue(parsing: json) else { return [] }
    return parts.compactMap { if case .string(let name) = $0 { name } else { nil } }
  }

  /// The rule of a foreign key. A default counts as null: the row stays, but no longer has the
  /// reference.
  private static func rule(_ action: String) -> RecordReference.DeleteRule {
    switch action {
    case "c": .cascade
    case "n", "d": .nullify
    default: .deny
    }
  }

  /// Returns the table of a row of ``PostgresSchemaStatements/tables``.
  func table(_ rows: PostgresRows, _ row: Int) -> PostgresTable {
    let name = rows.text(row, 0) ?? ""
    let (keys, isOwn) = (keys[TypeName(name)] ?? [], rows.boolean(row, 5) ?? false)
    let columns = (columns[TypeName(name)] ?? []).map { column($0, keys, isOwn: isOwn) }
    let isPlain = rows.text(row, 2) == "r" && rows.boolean(row, 3) == false
    let primary = keys.first(where: \.isPrimary)?.columns ?? []
    let keyColumns = primary.compactMap { key in
      columns.first { $0.name.hasSameBytes(as: key) }
    }
    return PostgresTable(
      name: name, in: schema, isPlain: isPlain, columns: columns,
      key: isPlain ? PostgresKey(keyColumns) : .none, isOwn: isOwn,
      isTracked: rows.integer(row, 4) == Int64(PostgresTracking.triggers.count),
      isReadable: rows.boolean(row, 6) ?? false, isLockable: rows.boolean(row, 7) ?? false,
      hasReadableStates: rows.boolean(row, 8) ?? false,
      hasWritableStates: rows.boolean(row, 9) ?? false,
      version: rows.text(row, 1) ?? "")
  }

  private func column(_ column: Column, _ keys: [Key], isOwn: Bool) -> PostgresColumn {
    let reference = keys.first { key in
      !key.isPrimary && key.parent != nil && key.columns.count == 1
        && key.columns[0].hasSameBytes(as: column.name)
    }
    var kind = Self.kind(column)
    var isEncoded = isOwn
    if let reference, let parent = reference.parent {
      // Keys of other types are plain values.
      switch kind {
      case .text, .integer:
        kind = .foreignKey(type: parent, reference.rule, isInteger: kind != .text)
        isEncoded = reference.isParentOwn
      default: break
      }
    }
    return PostgresColumn(
      name: column.name, declaredType: column.declaredType, castType: column.castType, kind: kind,
      isEncoded: isEncoded, isWritable: !column.isGenerated)
  }

  private static func kind(_ column: Column) -> PostgresColumn.Kind {
    switch column.ownDomain {
    case PostgresTracking.referenceDomain: return .keptReference
    case PostgresTracking.nullDomain: return .null
    default: break
    }
    if column.typeKind == "e" { return .enumeration }
    guard column.typeKind == "b" else { return .other }
    return switch column.base {
    case "int2": .integer(bits: 16)
    case "int4": .integer(bits: 32)
    case "int8": .integer(bits: 64)
    case "bool": .boolean
    case "float4": .real
    case "float8": .double
    case "text", "varchar": .text
    case "uuid": .uuid
    case "bytea": .bytes
    case "timestamptz": .date(digits: column.modifier < 0 ? 6 : Int(column.modifier))
    case "jsonb": .list
    default: .other
    }
  }
}
