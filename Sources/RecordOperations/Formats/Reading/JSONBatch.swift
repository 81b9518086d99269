/// Objects, as they came out of a piece of a file.
package struct JSONBatch: Sendable {
  package struct Object: Sendable {
    /// The line of the file on which it begins; the first one is 1.
    package let line: Int
    /// Which of those that begin on that line it is, from 1.
    let number: Int
    /// Its keys and values, in the order of the file.
    package let fields: [(key: String, value: FieldValue)]

    /// What is wrong with it.
    func problem(_ text: String) -> RowProblem { RowProblem(line: line, number: number, text) }
  }

  package private(set) var objects: [Object] = []
  /// What is wrong with the objects that are not here, in their order.
  package private(set) var problems: [RowProblem] = []

  /// Reads an object, and reports what is wrong with it.
  mutating func appendObject(
    _ bytes: [UInt8], line: Int, number: Int = 1, limits: RowLimits
  ) {
    var parser = JSONObjectParser(bytes, limits: limits)
    do {
      objects.append(Object(line: line, number: number, fields: try parser.object()))
    } catch { appendProblem(line: line, number: number, error.text) }
  }

  mutating func appendProblem(line: Int, number: Int = 1, _ text: String) {
    problems.append(RowProblem(line: line, number: number, text))
  }

  mutating func appendTooLarge(line: Int, number: Int = 1, _ limits: RowLimits) {
    appendProblem(
      line: line, number: number,
      "the object is too large and is skipped: the limit is \(limits.rowBytes) bytes")
  }
}
