/// A push parser that reads objects from the bytes of a JSON file, which arrive in pieces of any
/// size.
///
/// ```text
/// var reader = JSONReader(.lines)
/// while let piece = try file.read() {
///   for object in reader.read(piece.span).objects { take(object.fields) }
/// }
/// take(reader.finish())
/// ```
///
/// The reader first finds the bytes of an object, and then parses it separately: an error in it is
/// a ``RowProblem``, and reading continues with the next object. With one object per line, this is
/// always possible. In an array, it is possible as long as strings and brackets are closed; the
/// text after the last closed one is skipped and reported.
///
/// The parser is as strict as RFC 8259: no comments, no trailing commas, no `NaN`, only UTF-8, and
/// no unpaired surrogates. A duplicate key is a problem, and so is a value that no field can hold:
/// an object, a nested list, an integer outside of `Int64`, or a number that is too large or too
/// small for a `Double`. Only the digits of fractions are rounded.
///
/// - Complexity: O(*n*) for *n* bytes. The reader holds the unfinished object, up to its limits.
package struct JSONReader: Sendable {
  /// The layout of a JSON file.
  package enum Layout: Hashable, Sendable, CaseIterable {
    /// An array of objects.
    case array
    /// One object per line. Empty lines are skipped.
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
  /// - Returns: The completed objects.
  package mutating func read(_ piece: Span<UInt8>) -> JSONBatch {
    var batch = JSONBatch()
    let beginning = mark.remove(from: piece)
    splitMark(beginning.held, into: &batch)
    splitter.split(piece.extracting(beginning.start...), into: &batch)
    return batch
  }

  /// Ends the file. Nothing can be read afterwards.
  ///
  /// - Returns: The last object, if it has no line ending.
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

/// A splitter that finds the objects of a file.
protocol JSONSplitter: Sendable {
  mutating func split(_ piece: Span<UInt8>, into batch: inout JSONBatch)
  mutating func finish(into batch: inout JSONBatch)
}
