import CompositeOperations
import Foundation
import RecordOperations

/// Random records, predicates and orders, with values that are close to each other.
struct Samples {
  static let schema = [
    "CREATE TABLE \"Author\" (id TEXT PRIMARY KEY NOT NULL)",
    "INSERT INTO \"Author\" VALUES ('a'), ('B'), ('b'), ('10')",
    "CREATE TABLE \"Number\" (id INTEGER PRIMARY KEY)",
    "INSERT INTO \"Number\" VALUES (1), (9), (10), (-1)",
    """
    CREATE TABLE "T" (id TEXT PRIMARY KEY NOT NULL, "integer" INTEGER, "real" REAL, "text" TEXT,
      "loose" TEXT COLLATE NOCASE, "bytes" BLOB, "date" TEXT DATE, "list" TEXT LIST,
      "kept" TEXT REFERENCE, "author" TEXT REFERENCES "Author"(id) ON DELETE CASCADE,
      "number" INTEGER REFERENCES "Number" ON DELETE SET NULL, "any", "numeric" NUMERIC,
      "a ""name""; --" TEXT)
    """,
  ]

  static let keys = [
    "integer", "real", "text", "loose", "bytes", "date", "list", "kept", "author", "number", "any",
    "numeric", "a \"name\"; --",
  ]

  /// The keys of fields whose columns any database of tables creates.
  static let ownKeys = [
    "integer", "real", "text", "bytes", "date", "list", "kept", "author", "a \"name\"; --",
  ]

  private var generator: OperationRandomness
  private let keys: [String]

  init(seed: UInt64, keys: [String] = keys) {
    generator = .seeded(seed)
    self.keys = keys
  }

  mutating func indexes() -> [String] {
    Self.keys.filter { _ in Bool.random(using: &generator) }.map { key in
      let column = "\"" + key.replacingOccurrences(of: "\"", with: "\"\"") + "\""
      return "CREATE INDEX \"index of \(column.dropFirst()) ON \"T\" (\(column))"
    }
  }

  mutating func records(_ count: Int) -> [DatabaseRecord] {
    (0..<count).map { index in
      var record = DatabaseRecord("T", "\(count - index)")
      for key in keys { record[key] = chance(5) ? .null : value(for: key) }
      return record
    }
  }

  mutating func order() -> [RecordOrder] {
    (0..<Int.random(in: 0...3, using: &generator)).map { _ in
      RecordOrder(
        pick(keys.filter { $0 != "list" }), chance(2) ? .ascending : .descending)
    }
  }

  mutating func pageSize() -> Int { pick([1, 2, 3, 5, 7, 24, 100]) }

  mutating func predicate(depth: Int) -> RecordPredicate {
    if depth > 0, chance(2) {
      let parts = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
        predicate(depth: depth - 1)
      }
      return pick([.all(parts), .any(parts), .not(parts.first ?? .all([]))])
    }
    let key = pick(keys)
    // Mostly values of the column's kind.
    var value = chance(4) ? self.value(for: pick(keys)) : self.value(for: key)
    if case .list(let elements) = value { value = elements.first ?? .null }
    switch Int.random(in: 0..<10, using: &generator) {
    case 0:
      return .isOne(key, of: (0..<3).map { _ in scalar(for: chance(3) ? pick(keys) : key) })
    case 1: return .hasPrefix(key, pick(["", "a", "A", "é", "2026-", "Au", "a\0", "\u{10FFFF}"]))
    case 2: return .contains(key, pick(["", "a", "B", "\0", "e", "\u{301}", "5", "/"]))
    case 3: return .includes("list", chance(4) ? value : element())
    case 4: return .comparison(key, pick([.equal, .notEqual, .less, .greaterOrEqual]), .null)
    default:
      return .comparison(
        key, pick([.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]), value)
    }
  }

  private mutating func scalar(for key: String) -> FieldValue {
    if case .list(let elements) = value(for: key) {
      elements.first ?? .null
    } else {
      value(for: key)
    }
  }

  private mutating func value(for key: String) -> FieldValue {
    switch key {
    case "integer": .integer(pick(Self.integers))
    case "real": .double(pick(Self.doubles))
    case "text", "loose", "a \"name\"; --": .string(pick(Self.texts))
    case "bytes": .bytes(pick([[], [0], [0x61], [0xFF], [0x61, 0]]))
    case "date": date()
    case "list": .list((0..<Int.random(in: 0...3, using: &generator)).map { _ in element() })
    case "kept": reference()
    case "author":
      .reference(
        RecordReference(RecordID("Author", pick(["a", "B", "b", "10"])), onDelete: .cascade))
    case "number":
      .reference(
        RecordReference(RecordID("Number", pick(["1", "9", "10", "-1"])), onDelete: .nullify))
    case "numeric":
      pick([.integer(pick(Self.integers)), .string(pick(["a", "B", "", "2026-11-22"]))])
    default:
      pick([
        .integer(pick(Self.integers)), .double(pick(Self.doubles)), .string(pick(Self.texts)),
        .bytes(pick([[], [0], [0x61]])),
      ])
    }
  }

  private mutating func element() -> FieldValue {
    pick([
      .null, .integer(pick(Self.integers)), .double(pick(Self.doubles)), .string(pick(Self.texts)),
      .bytes(pick([[], [0x61]])), date(), reference(),
    ])
  }

  private mutating func date() -> FieldValue {
    .date(
      Date(
        timeIntervalSince1970: pick([
          -62_135_596_800, -1, -0.001, 0, 0.001, 1_795_348_984.123, 253_402_300_799.999,
        ])))
  }

  private mutating func reference() -> FieldValue {
    .reference(
      RecordReference(
        RecordID(pick(["A", "A-B", "Author", "a"]), pick(["a", "B", "", "x/y", "n\0m", "n"]))))
  }

  private static let integers: [Int64] = [
    0, 1, -1, 2, 5, 9_007_199_254_740_992, 9_007_199_254_740_993, .max, .min,
  ]
  private static let doubles: [Double] = [
    0, -0.0, 1, 0.1, 0.30000000000000004, 5, 9_007_199_254_740_992, 9_223_372_036_854_775_808,
    -.infinity, .infinity, .leastNonzeroMagnitude, 1e300,
  ]
  private static let texts = [
    "", "a", "A", "ab", "aB", "b", "é", "e\u{301}", "a\0b", "a\0c", "5", "5.0", " 5", "\"'--",
    "\u{10FFFF}z",
    "2026-11-22T12:03:04.123Z", "[1]", "A/a",
  ]

  private mutating func chance(_ count: Int) -> Bool {
    Int.random(in: 0..<count, using: &generator) == 0
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &generator)]
  }
}
