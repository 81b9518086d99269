/// Objects, as they came out of a piece of a file.
package struct JSONBatch: Sendable {
  package struct Object: Sendable {
    /// The line of the file on which it begins; the first one is 1.
    package let line: Int
    /// Its keys and values, in the order of the file.
    package let fields: [(key: String, value: FieldValue)]
  }

  package private(set) var objects: [Object] = []
  /// What is wrong with the objects that are not here, in their order.
  package private(set) var problems: [RowProblem] = []

  /// Reads an object, and reports what is wrong with it.
  mutating func appendObject(_ bytes: [UInt8], line: Int, limits: RowLimits) {
    var parser = JSONObjectParser(bytes, limits: limits)
    do { objects.append(Object(line: line, fields: try parser.object())) } catch {
      appendProblem(line: line, error.text)
    }
  }

  mutating func appendProblem(line: Int, _ text: String) {
    problems.append(RowProblem(line: line, text))
  }

  mutating func appendTooLarge(line: Int, _ limits: RowLimits) {
    appendProblem(
      line: line, "the object is too large and left out: it has at most \(limits.rowBytes) bytes")
  }
}
