/// Makes fields out of the objects of a JSON file that comes in pieces, wherever it has been cut.
///
/// ```text
/// var reader = JSONReader(.lines)
/// while let piece = try file.read() {
///   for object in reader.read(piece.span).objects { take(object.fields) }
/// }
/// take(reader.finish())
/// ```
///
/// The bytes of an object are found first, and then it is read by itself: what is wrong in one is a ``RowProblem``, and
/// one goes on with the next. In lines that is always possible. In an array it is as long as strings and brackets
/// close; what is behind the last place where they did is left out, and reported.
///
/// It is strict as RFC 8259 is: no comments, no trailing commas, no `NaN`, text in UTF-8, and no half of a surrogate
/// pair. A key that is there twice is a problem, and so is what no field can have: an object, a list within a list, an
/// integer that is no `Int64`, a number larger than the largest `Double`. Nothing is rounded to fit but the digits of
/// fractions.
///
/// - Complexity: O(the bytes that are read). What it holds is the object that has not ended, up to its limits.
package struct JSONReader: Sendable {
  package enum Layout: Hashable, Sendable, CaseIterable {
    /// An array of objects.
    case array
    /// An object a line. Empty lines are none.
    case lines
  }

  private var splitter: any JSONSplitter
  private var mark = ByteOrderMark()

  package init(_ layout: Layout, limits: RowLimits = RowLimits()) {
    switch layout {
    case .array: splitter = JSONArraySplitter(limits: limits)
    case .lines: splitter = JSONLineSplitter(limits: limits)
    }
  }

  /// Reads the next piece of the file.
  ///
  /// - Returns: The objects that have come to their end.
  package mutating func read(_ piece: Span<UInt8>) -> JSONBatch {
    var batch = JSONBatch()
    let beginning = mark.leaveOut(of: piece)
    splitMark(beginning.held, into: &batch)
    splitter.split(piece.extracting(beginning.start...), into: &batch)
    return batch
  }

  /// Says that the file has come to its end; nothing is read after that.
  ///
  /// - Returns: The last object, if its line has no end.
  package mutating func finish() -> JSONBatch {
    var batch = JSONBatch()
    splitMark(mark.finish(), into: &batch)
    splitter.finish(into: &batch)
    return batch
  }

  private mutating func splitMark(_ count: Int, into batch: inout JSONBatch) {
    let mark = ByteOrderMark.bytes
    splitter.split(mark.span.extracting(..<count), into: &batch)
  }
}

/// Finds the objects of a file.
protocol JSONSplitter: Sendable {
  mutating func split(_ piece: Span<UInt8>, into batch: inout JSONBatch)
  mutating func finish(into batch: inout JSONBatch)
}
