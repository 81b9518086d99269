import RecordOperations
import Synchronization
import SystemSupport

/// A formatter of rows as a table for display.
///
/// One block of rows determines the widths of the columns, so that only one block is kept. An
/// instance formats one file, because it stores these widths.
final class TableFormatter: RecordFormatter {
  private static let blockSize = 1_000

  private struct State {
    var layout: TableLayout?
    var rows: [[FieldValue]] = []
    var count = 0
  }

  private let width: Int?
  private let limit: Int?
  private let state = Mutex(State())

  /// - Parameters:
  ///   - width: The number of columns of the terminal; nil without a terminal.
  ///   - limit: The maximum number of rows; nil for all.
  init(width: Int?, limit: Int?) {
    self.width = width
    self.limit = limit
  }

  /// Replaces bytes, and texts that are not UTF-8, by their size.
  func transform(_ value: FieldValue, of column: String) -> FieldValue {
    guard case .bytes(let bytes) = value else { return value }
    return .string("<\(bytes.count.asBytes)>")
  }

  func append(_ values: [FieldValue], for columns: [String], to bytes: inout [UInt8]) {
    state.withLock { state in
      state.count += 1
      if let limit, state.count > limit { return }
      state.rows.append(values)
      if state.rows.count == Self.blockSize { layOut(&state, columns, &bytes) }
    }
  }

  func appendDelimiter(to bytes: inout [UInt8]) {}

  func appendFooter(for columns: [String], after count: Int, to bytes: inout [UInt8]) {
    state.withLock { state in
      if state.layout == nil || !state.rows.isEmpty { layOut(&state, columns, &bytes) }
    }
  }

  private func layOut(_ state: inout State, _ columns: [String], _ bytes: inout [UInt8]) {
    var rows = state.rows.map { $0.map(\.forPeople) }
    var layout: TableLayout
    if let old = state.layout {
      layout = old
    } else {
      layout = TableLayout(numbers: Self.numbers(in: state.rows), width: width)
      rows.insert(columns, at: 0)
    }
    bytes += layout.text(of: rows).utf8
    state.layout = layout
    state.rows = []
  }

  /// The columns that contain only numbers.
  private static func numbers(in rows: [[FieldValue]]) -> Set<Int> {
    Set((rows.first ?? []).indices.filter { column in rows.allSatisfy { $0[column].isNumber } })
  }
}

extension FieldValue {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer, .double, .null: true
    case .string, .bytes, .date, .reference, .list: false
    }
  }

  /// The value for display.
  fileprivate var forPeople: String {
    switch self {
    case .null: "–"
    case .integer, .double, .string, .bytes, .date, .reference, .list:
      (try? CSVFormatter().text(of: self)) ?? "?"
    }
  }
}
