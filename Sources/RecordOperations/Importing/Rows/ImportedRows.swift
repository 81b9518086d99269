/// Rows in the form in which they came.
struct ImportedRows {
  /// What the columns of the cells are called; nil if nobody says.
  var header: [String]? {
    didSet { isHeaderNew = true }
  }
  /// Whether nobody has had it yet: it is told even if there are no rows behind it.
  private var isHeaderNew = false
  /// Whether an empty cell that is not in quotes is null.
  var emptyIsNull = true
  private(set) var cells = RowBatch()
  /// Whether all cells are text in UTF-8.
  private(set) var isText = true
  /// Which of the rows of cells are meant.
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

  /// A name of the header: its text, nil if that is not UTF-8, and whether it is in quotes.
  typealias HeaderName = (text: String?, isQuoted: Bool)

  /// Takes the first row of cells away; nil if there is none.
  mutating func removeHeader() -> [HeaderName]? {
    guard let row = range.first else { return nil }
    range = range.dropFirst()
    return cells.cells(of: row).map { (cells.text(of: $0), $0.isQuoted) }
  }

  /// Takes the first rows away, with the problems that come before the others.
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
