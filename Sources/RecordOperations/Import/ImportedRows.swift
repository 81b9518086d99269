/// Rows of a file: cells of CSV, or objects of JSON.
struct ImportedRows {
  /// The names of the columns of the cells; `nil` if the file has no header.
  var header: [String]? {
    didSet { isHeaderNew = true }
  }
  /// Whether the header has not been returned yet. It is returned even if no rows follow it.
  private var isHeaderNew = false
  /// Whether an empty cell that is not quoted is null.
  var emptyIsNull = true
  private(set) var cells = RowBatch()
  /// Whether all cells are valid UTF-8.
  private(set) var isText = true
  /// The range of the rows in `cells`.
  private(set) var range = 0..<0
  private(set) var objects: ArraySlice<JSONBatch.Object> = []
  private(set) var problems: [RowProblem] = []

  var count: Int { range.count + objects.count }
  var isEmpty: Bool { count == 0 && problems.isEmpty && !isHeaderNew }
  var firstLine: Int? { range.isEmpty ? objects.first?.line : cells.line(of: range.lowerBound) }

  mutating func take(_ batch: RowBatch) {
    (cells, range, problems) = (batch, 0..<batch.rowCount, batch.problems)
    isText = batch.isText
  }

  mutating func take(_ batch: JSONBatch) {
    (objects, problems) = (batch.objects[...], batch.problems)
  }

  /// A name in the header: its text, or `nil` if it is not valid UTF-8, and whether it is quoted.
  typealias HeaderName = (text: String?, isQuoted: Bool)

  /// Removes the first row of cells and returns it, or `nil` if there is none.
  mutating func removeHeader() -> [HeaderName]? {
    guard let row = range.first else { return nil }
    range = range.dropFirst()
    return cells.cells(of: row).map { (cells.text(of: $0), $0.isQuoted) }
  }

  /// Removes the first rows and returns them, with the problems before the remaining rows.
  mutating func removeFirst(_ count: Int) -> ImportedRows {
    var first = self
    first.range = range.prefix(count)
    first.objects = objects.prefix(count)
    range = range.dropFirst(count)
    objects = objects.dropFirst(count)
    let next = firstLine ?? .max
    first.problems = problems.filter { $0.line < next }
    problems.removeAll { $0.line < next }
    isHeaderNew = false
    return first
  }
}
