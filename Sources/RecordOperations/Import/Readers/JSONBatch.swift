internal import SystemSupport

/// The objects in a piece of a file.
package struct JSONBatch: Sendable {
  package struct Object: Sendable {
    /// The line of the file on which the object begins, starting at 1.
    package let line: Int
    /// The number of the object among those that begin on its line, starting at 1.
    let number: Int
    /// The keys and values, in the order of the file.
    package let fields: [(key: String, value: FieldValue)]

    /// Returns a problem with this object.
    func problem(_ text: String) -> RowProblem { RowProblem(line: line, number: number, text) }
  }

  package private(set) var objects: [Object] = []
  /// The problems with the skipped objects, in their order.
  package private(set) var problems: [RowProblem] = []

  /// Parses an object and appends it, or the problem with it.
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
