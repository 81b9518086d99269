internal import SystemSupport

/// A splitter that finds the objects of a JSON array.
struct JSONArraySplitter: JSONSplitter {
  private enum State {
    /// Before the array.
    case start
    /// Before the first object, or the end of an empty array.
    case first
    /// After a comma.
    case element
    /// After an object.
    case separator
    case object
    /// In skipped text, up to the next comma or the end of the array.
    case skipped
    /// After the array.
    case end
    /// After an error that makes the rest of the file unreadable.
    case lost
  }

  private let limits: RowLimits
  private var state = State.start
  private var line = 1
  /// The line on which the object or the skipped text begins.
  private var beginning = 1
  /// The number of the object on its line.
  private var number = 0
  /// The bytes of the unfinished object.
  private var bytes: [UInt8] = []
  private var nesting = JSONNesting()
  /// The problem with the skipped text, with the number of its object, and the objects in the text.
  private var problem = (number: 1, text: "")
  private var skipped = JSONObjectCount()

  init(limits: RowLimits) { self.limits = limits }

  mutating func split(_ piece: Span<UInt8>, into batch: inout JSONBatch) {
    var position = 0
    while position < piece.count {
      switch state {
      case .object: splitObject(piece, at: &position, into: &batch)
      case .skipped: skipText(piece, at: &position, into: &batch)
      case .start, .first, .element, .separator, .end:
        let byte = piece[position]
        if byte.isJSONSpace {
          if byte == .lineFeed { line += 1 }
          position += 1
        } else if consumeStructure(byte, into: &batch) {
          position += 1
        }
      case .lost: return
      }
    }
  }

  mutating func finish(into batch: inout JSONBatch) {
    switch state {
    case .end, .lost: return
    case .start:
      batch.appendProblem(
        line: line,
        "expected an array of objects, which begins with \"[\", found the end of the file")
    case .first, .element, .separator:
      batch.appendProblem(
        line: line, "the array is not closed: expected \"]\", found the end of the file")
    case .object:
      batch.appendProblem(
        line: beginning, through: line, number: number,
        rowCount: JSONObjectCount(bytes.span).count,
        """
        the object is not closed: it extends to the end of the file, line \(line), and is skipped: \(bytes.count) \
        bytes
        """)
    case .skipped:
      problem.text += """
        ; the skipped text extends to the end of the file, line \(line): no comma or "]" of the array was found after it
        """
      endSkipped(into: &batch)
    }
    state = .lost
  }

  /// - Returns: Whether the byte was consumed.
  private mutating func consumeStructure(_ byte: UInt8, into batch: inout JSONBatch) -> Bool {
    switch (state, byte) {
    case (.start, .openingBracket): state = .first
    case (.first, .closingBracket), (.separator, .closingBracket): state = .end
    case (.separator, .comma): state = .element
    case (.first, .openingBrace), (.element, .openingBrace):
      begin(.object)
      return false
    case (.element, .closingBracket):
      batch.appendProblem(
        line: line, "expected an object after the comma, found the end of the array")
      state = .end
    case (.first, _), (.element, _):
      begin(.skipped)
      problem = (1, "expected an object, found \(byte.shortText)")
      return false
    case (.separator, _):
      begin(.skipped)
      problem = (
        1,
        """
        expected a comma or "]" after an object, found \(byte.shortText); the text up to the next comma is skipped
        """
      )
      return false
    case (.start, _):
      batch.appendProblem(
        line: line, rowCount: .max,
        """
        expected an array of objects, which begins with "[", found \(byte.shortText), so the file is skipped; a file with \
        one object a line is JSON Lines
        """)
      state = .lost
    case (.object, _), (.skipped, _), (.lost, _):
      preconditionFailure(
        "`consumeStructure` must not be called in the state \(state) (byte \(byte))")
    case (.end, _):
      batch.appendProblem(
        line: line, rowCount: .max,
        "expected the end of the file after the array, found \(byte.shortText), so the rest is skipped"
      )
      state = .lost
    }
    return true
  }

  private mutating func begin(_ state: State) {
    if beginning != line { number = 0 }
    // Skipped text after an object does not count as an object.
    if self.state != .separator { number += 1 }
    self.state = state
    beginning = line
    nesting = JSONNesting()
    skipped = JSONObjectCount()
  }

  private mutating func splitObject(
    _ piece: Span<UInt8>, at position: inout Int, into batch: inout JSONBatch
  ) {
    let start = position
    let end =
      piece.count - start > limits.rowBytes - bytes.count
      ? start + limits.rowBytes - bytes.count : piece.count
    while position < end {
      if piece[position] == .lineFeed { line += 1 }
      nesting.consume(piece[position])
      position += 1
      if nesting.depth > JSONNesting.limit {
        bytes.append(piece.extracting(start..<position))
        return skip(
          "the object is nested more than \(JSONNesting.limit) levels deep and is skipped")
      }
      if nesting.depth == 0 {
        bytes.append(piece.extracting(start..<position))
        batch.appendObject(
          bytes, line: beginning, through: line, number: number, limits: limits)
        bytes.removeAll(keepingCapacity: bytes.count < 1 << 20)
        state = .separator
        return
      }
    }
    bytes.append(piece.extracting(start..<position))
    if position < piece.count { skip(limits.tooLargeObject) }
  }

  /// Skips the rest of an object.
  private mutating func skip(_ problem: String) {
    self.problem = (number, problem)
    skipped = JSONObjectCount(bytes.span)
    bytes = []
    state = .skipped
  }

  private mutating func endSkipped(into batch: inout JSONBatch) {
    batch.appendProblem(
      line: beginning, through: line, number: problem.number, rowCount: skipped.count,
      problem.text)
  }

  private mutating func skipText(
    _ piece: Span<UInt8>, at position: inout Int, into batch: inout JSONBatch
  ) {
    let byte = piece[position]
    if byte == .lineFeed { line += 1 }
    skipped.consume(byte)
    if nesting.isOutside, byte == .comma || byte == .closingBracket {
      endSkipped(into: &batch)
      state = byte == .comma ? .element : .end
    } else {
      nesting.consume(byte)
    }
    position += 1
  }
}

/// The nesting depth of a position in JSON. It counts brackets without matching them; the object
/// parser does that.
struct JSONNesting {
  /// The maximum depth, in brackets.
  static let limit = 512

  private(set) var depth = 0
  private var isInString = false
  private var isEscaped = false

  /// Whether a comma or a closing bracket at this position belongs to the enclosing array.
  var isOutside: Bool { depth == 0 && !isInString }

  mutating func consume(_ byte: UInt8) {
    if isEscaped {
      isEscaped = false
    } else if isInString {
      if byte == .quote { isInString = false } else if byte == .backslash { isEscaped = true }
    } else {
      switch byte {
      case .quote: isInString = true
      case .openingBrace, .openingBracket: depth += 1
      case .closingBrace, .closingBracket: depth = max(0, depth - 1)
      default: return
      }
    }
  }
}
