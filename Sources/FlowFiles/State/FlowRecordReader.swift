import Foundation
package import SQLiteSupport
import SystemSupport

/// Reads the last successes of a flow.
///
/// With other values, a unit keeps a success for each of a hundred runs. Of such a unit, only the last ones are read, and
/// those of runs whose values permit the current definition.
package struct FlowRecordReader {
  /// The records by the name of the step or the child.
  private(set) var records: [ExactText: FlowRecord] = [:]
  /// The number of rows that were read.
  package private(set) var rowCount = 0

  /// How many rows of a unit are read one after another before the others are left out.
  private static let mostRowsOfUnit = 4
  private static let mostRowsOfPage = 256

  private let flow: String
  /// See ``FlowJournal/records(preferring:sharing:)``.
  private let runs: Set<Int>
  private let definitions: [String: String]
  private var last: FlowRecord?
  /// The values of all runs by number, when they are needed.
  private var values: [Int: [String: String]]?
  /// The runs in which a step can have had its current definition.
  private var candidates: [String: Set<Int>] = [:]

  /// - Parameters:
  ///   - flow: The name of the flow.
  ///   - runs: The numbers of the runs that count first.
  ///   - definitions: The current definitions by the name of the step.
  package init(of flow: String, preferring runs: Set<Int>, sharing definitions: [String: String]) {
    (self.flow, self.runs, self.definitions) = (flow, runs, definitions)
    records.reserveCapacity(definitions.count)
  }

  /// The number of the success of a unit; nil if it has none.
  package func number(of unit: String) -> Int64? { records[ExactText(unit)]?.number }

  private static let columns =
    "step, run, definition, inputs, outputs, lines, used, number, made, ended, duration"

  /// Reads the records.
  package mutating func read(from connection: SQLiteConnection) throws {
    // Names of steps have letters, digits and punctuation before it.
    var end = "~"
    var limit = Self.mostRowsOfPage
    while true {
      var (count, units) = (0, 0)
      var name: ExactText?
      _ = try connection.fetchAll(
        """
        SELECT \(Self.columns) FROM flow_success WHERE flow = ?1 AND step < ?2
        ORDER BY step DESC, run DESC LIMIT ?3
        """, [.text(flow), .text(end), .integer(Int64(limit))]
      ) { row in
        let unit = add(row)
        if unit != name { units += 1 }
        (name, count) = (unit, count + 1)
      }
      guard count == limit, let unit = name else { return }
      // Its other rows, if there are any.
      try readOthers(of: unit, from: connection)
      end = unit.text
      if units * Self.mostRowsOfUnit < count {
        limit = 2
      } else if units > 1 {
        limit = min(2 * limit, Self.mostRowsOfPage)
      }
    }
  }

  /// Reads the rows of a unit whose run or definition can count.
  private mutating func readOthers(
    of unit: ExactText, from connection: SQLiteConnection
  ) throws {
    var numbers = runs
    // Without outputs, a success counts for its run only.
    if records[unit]?.outputs.isEmpty == false {
      numbers.formUnion(try candidates(for: FlowRecord.step(of: unit.text), connection))
    }
    _ = try connection.fetchAll(
      """
      SELECT \(Self.columns) FROM flow_success
      WHERE flow = ?1 AND step = ?2 AND run IN (SELECT value FROM json_each(?3))
      """, [.text(flow), .text(unit.text), .text(FlowJournal.json(numbers))]
    ) { _ = add($0) }
  }

  /// Returns the runs with the values that are in the current definition of a step.
  private mutating func candidates(
    for step: String, _ connection: SQLiteConnection
  ) throws -> Set<Int> {
    if let known = candidates[step] { return known }
    struct Definition: Decodable { let values: [String: String] }
    let decoder = JSONDecoder()
    var all = values ?? [:]
    if values == nil {
      _ = try connection.fetchAll(
        #"SELECT number, "values" FROM flow_run WHERE flow = ?1"#, [.text(flow)]
      ) { row in
        all[Int(row.integer(at: 0))] =
          try? decoder.decode([String: String].self, from: Data((row.text(at: 1) ?? "").utf8))
      }
      values = all
    }
    let definition = definitions[step].flatMap {
      try? decoder.decode(Definition.self, from: Data($0.utf8))
    }
    let found = Set(
      all.lazy.filter { run in
        definition?.values.allSatisfy { run.value[$0.key]?.hasSameBytes(as: $0.value) == true }
          ?? false
      }.map(\.key))
    candidates[step] = found
    return found
  }

  /// Adds the record of a row, unless another one of its unit counts.
  ///
  /// - Returns: The name of the unit.
  private mutating func add(_ row: SQLiteStatement) -> ExactText {
    rowCount += 1
    let record = FlowRecord(row, sharing: definitions, last)
    last = record
    let key = ExactText(record.unit)
    if let other = records[key] {
      let (rank, otherRank) = (record.rank(runs, definitions), other.rank(runs, definitions))
      if rank == otherRank ? record.number < other.number : rank < otherRank { return key }
    }
    records[key] = record
    return key
  }
}

extension FlowRecord {
  /// The step, whose definition all of its children have.
  fileprivate static func step(of unit: String) -> String {
    unit.utf8.last == UInt8(ascii: "]") ? unit.stepName : unit
  }

  /// Of the successes of a unit, one with the highest rank counts.
  fileprivate func rank(_ runs: Set<Int>, _ definitions: [String: String]) -> Int {
    if runs.contains(run) { return 2 }
    return definitions[Self.step(of: unit)]?.hasSameBytes(as: definition) == true ? 1 : 0
  }

  /// - Parameters:
  ///   - definitions: Texts to use for an equal definition, by the name of the step.
  ///   - last: A record whose inputs are used if they are equal.
  fileprivate init(
    _ row: SQLiteStatement, sharing definitions: [String: String], _ last: FlowRecord?
  ) {
    let unit = row.text(at: 0) ?? ""
    let definition = row.text(at: 2) ?? ""
    let inputs = row.text(at: 3) ?? ""
    let known = definitions[Self.step(of: unit)]
    self.init(
      unit: unit, run: Int(row.integer(at: 1)),
      definition: known?.hasSameBytes(as: definition) == true ? known ?? definition : definition,
      inputs: last?.inputs == inputs ? last?.inputs ?? inputs : inputs,
      outputs: row.text(at: 4) ?? "",
      // Without them, the step runs again.
      lines: row.text(at: 5).flatMap { FlowJournal.texts(inJSON: $0) },
      used: FlowUse(text: row.text(at: 6) ?? ""), number: row.integer(at: 7),
      made: row.integer(at: 8), ended: row.integer(at: 9), duration: row.integer(at: 10))
  }
}
