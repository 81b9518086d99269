import FlowFiles
import Foundation
import SQLiteSupport
import TestSupport
import Testing

struct FlowRecordReaderTests {
  /// A success as the tables have it.
  private struct Row {
    let unit: String
    let run: Int
    let definition: String
    let outputs: String
    let number: Int64
  }

  private static func definition(_ version: Int, day: Int?) -> String {
    let values = day.map { #""day":"\#($0)""# } ?? ""
    return #"{"run":["x\#(version)"],"values":{\#(values)}}"#
  }

  /// A database with the values of some runs, and with successes.
  private static func connection(_ days: [Int], _ rows: [Row]) throws -> SQLiteConnection {
    let connection = try SQLiteConnection.openInMemory()
    try connection.execute(
      #"CREATE TABLE flow_run (flow TEXT, number INTEGER, "values" TEXT, PRIMARY KEY (flow, number))"#
    )
    try connection.execute(
      """
      CREATE TABLE flow_success (flow TEXT, step TEXT, run INTEGER, definition TEXT, inputs TEXT,
        outputs TEXT, lines TEXT, used TEXT, number INTEGER, made INTEGER, ended INTEGER,
        duration INTEGER, PRIMARY KEY (flow, step, run)) WITHOUT ROWID
      """)
    try connection.transaction(.immediate) {
      for (index, day) in days.enumerated() {
        try connection.execute(
          "INSERT INTO flow_run VALUES ('f', ?1, ?2)",
          [.integer(Int64(index + 1)), .text(#"{"day":"\#(day)","other":"\#(index)"}"#)])
      }
      for row in rows {
        try connection.execute(
          "INSERT INTO flow_success VALUES ('f', ?1, ?2, ?3, '', ?4, NULL, '', ?5, ?5, 0, 0)",
          [
            .text(row.unit), .integer(Int64(row.run)), .text(row.definition), .text(row.outputs),
            .integer(row.number),
          ])
      }
    }
    return connection
  }

  @Test(arguments: [1, 57, 101])
  func `L7: of children with successes of a hundred runs, only those that can count are read`(
    day: Int
  ) throws {
    let (children, days) = (200, 100)
    var rows: [Row] = []
    for run in 1...days {
      for child in 1...children {
        rows.append(
          Row(
            unit: "s[\(child)]", run: run, definition: Self.definition(1, day: run),
            outputs: "1 2 3 out", number: Int64(run * 1_000 + child)))
      }
    }
    // A step that does not use the value has one success.
    rows.append(
      Row(unit: "a", run: 3, definition: Self.definition(1, day: nil), outputs: "x", number: 1))
    let connection = try Self.connection(Array(1...days), rows)
    var reader = FlowRecordReader(
      of: "f", preferring: [days + 1],
      sharing: ["s": Self.definition(1, day: day), "a": Self.definition(1, day: nil)])
    try reader.read(from: connection)
    // Two of a page, and the one of the run with these values.
    #expect(reader.rowCount <= 3 * children + 600, "\(reader.rowCount)")
    let run = day <= days ? day : days
    for child in 1...children {
      #expect(reader.number(of: "s[\(child)]") == Int64(run * 1_000 + child))
    }
    #expect(reader.number(of: "a") == 1)
  }

  @Test func `L7: the successes that count are the same as if all were read`() throws {
    let environment = ProcessInfo.processInfo.environment
    let seed =
      environment["COMPOSITE_RECORDS_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...9_999)
    print("records: COMPOSITE_RECORDS_SEED=\(seed)")
    var random = SplitMix(state: seed)
    func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    for _ in 0..<(environment["COMPOSITE_TEST_DEPTH"] == "full" ? 300 : 30) {
      let days = (0..<(1 + below(40))).map { _ in below(6) }
      let usesDay = (0..<3).map { _ in below(3) > 0 }
      var rows: [Row] = []
      for unit in 0..<(1 + below(300)) {
        let step = below(3)
        let isDense = below(2) == 0
        for (index, day) in days.enumerated() where isDense || below(8) == 0 {
          rows.append(
            Row(
              unit: "s\(step)[\(unit)]", run: index + 1,
              definition: Self.definition(below(2), day: usesDay[step] ? day : nil), outputs: "x",
              number: Int64(below(1_000_000))))
        }
      }
      let today = below(7)
      var definitions: [String: String] = [:]
      for step in 0..<3 {
        definitions["s\(step)"] = Self.definition(0, day: usesDay[step] ? today : nil)
      }
      let runs: Set = [1 + below(45), 1 + below(45)]
      var reader = FlowRecordReader(of: "f", preferring: runs, sharing: definitions)
      try reader.read(from: try Self.connection(days, rows))
      for (unit, rows) in Dictionary(grouping: rows, by: \.unit) {
        let own = rows.filter { runs.contains($0.run) }
        let same = rows.filter { $0.definition == definitions[String(unit.prefix(2))] }
        let found = reader.number(of: unit)
        if let expected = (own.isEmpty ? same : own).map(\.number).max() {
          #expect(found == expected, "seed \(seed), \(unit)")
        } else {
          // One of the last ones, which only explains why the step runs.
          #expect(rows.contains { $0.number == found }, "seed \(seed), \(unit)")
        }
      }
    }
  }
}
