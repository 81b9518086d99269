import RecordOperations

/// The objects and problems that a reader finds in JSON.
struct JSONReading: Equatable {
  /// An object is `2: a = "b", …`, which begins with its line.
  var objects: [String] = []
  var problems: [String] = []
  /// The number of objects that the problems count.
  var lostCount = 0
  /// Its values, each after the length of its key in bytes: some keys are equal as `String` but
  /// have different bytes.
  var values: [[String]] = []

  init(
    _ layout: JSONReader.Layout, _ bytes: [UInt8], inPiecesOf length: Int? = nil,
    limits: RowLimits = RowLimits()
  ) {
    let length = length ?? max(1, bytes.count)
    self.init(
      layout, bytes, cutAt: Array(stride(from: length, to: bytes.count, by: length)),
      limits: limits)
  }

  init(
    _ layout: JSONReader.Layout, _ bytes: [UInt8], cutAt places: [Int],
    limits: RowLimits = RowLimits()
  ) {
    var reader = JSONReader(layout, limits: limits)
    for (start, end) in zip([0] + places, places + [bytes.count]) {
      add(reader.read(bytes.span.extracting(start..<end)))
    }
    add(reader.finish())
  }

  init(_ layout: JSONReader.Layout, _ text: String) { self.init(layout, Array(text.utf8)) }

  private mutating func add(_ batch: JSONBatch) {
    for object in batch.objects {
      let fields = object.fields.map { "\($0.key) = \($0.value)" }.joined(separator: ", ")
      objects.append("\(object.line): \(fields)")
      values.append(object.fields.map { "\($0.key.utf8.count): \($0.value)" })
    }
    problems += batch.problems.map(\.description)
    lostCount =
      lostCount.addingReportingOverflow(batch.problems.badRowCount).overflow
      ? .max : lostCount + batch.problems.badRowCount
  }
}
