internal import SystemSupport

/// A reader of the rows of a file, in batches. Its creator closes it once; a descriptor that was
/// already open stays open.
struct ImportSource {
  private let path: String
  private let file: FileDescriptor
  private let wasOpen: Bool
  private let isFile: Bool
  private let check: () throws -> Void
  /// Exactly one of the two readers is set.
  private var csv: CSVReader?
  private var json: JSONReader?
  private var buffer = [UInt8](repeating: 0, count: 1 << 20)
  private var isAtEnd = false
  /// The encoding; `nil` until enough of the file has been read to detect it.
  private var encoding: TextEncoding?
  /// The bytes that were read before the encoding was detected.
  private var prefix: [UInt8] = []
  private var transcoder: UTF16Transcoder?

  /// Whether the row with the names of the columns has not been read yet.
  private var needsHeader: Bool
  private var rows = ImportedRows()

  /// The number of bytes read.
  private(set) var byteCount = 0
  /// The size of the file in bytes; `nil` if it is not known.
  let size: Int?

  /// - Parameters:
  ///   - descriptor: The open descriptor to read; `nil` to open the path.
  ///   - check: Called while a pipe or a device has no data. It throws to end the wait.
  /// - Throws: A ``RecordFileError``; any error of `check`.
  init(
    _ path: String, open descriptor: Int32? = nil, _ format: ImportFormat,
    _ check: @escaping () throws -> Void
  ) throws {
    (self.path, self.check) = (path, check)
    wasOpen = descriptor != nil
    switch format.kind {
    case .csv(let delimiter, let hasHeader, let emptyCells):
      csv = CSVReader(delimiter: delimiter)
      needsHeader = hasHeader
      rows.emptyIsNull = emptyCells == .null
    case .json(let layout):
      json = JSONReader(layout)
      needsHeader = false
    }
    let file = try RecordFileError.reading(path) {
      try descriptor.map(FileDescriptor.init) ?? .open(path, .readOnly, .nonBlocking)
    }
    do {
      let status = try RecordFileError.reading(path) { try file.status }
      if status.kind == .folder { throw Self.folder(path) }
      isFile = status.kind == .file
      // The position of an open descriptor is not known.
      size = isFile && !wasOpen ? status.size : nil
      self.file = file
    } catch {
      if descriptor == nil { try? file.close() }
      throw error
    }
  }

  /// Checks that a path can be read, without opening it: a pipe can be opened only once.
  ///
  /// - Throws: A ``RecordFileError``.
  static func check(_ path: String) throws {
    try RecordFileError.reading(path) {
      let status = try FileStatus(ofFile: path)
      if status.kind == .folder { throw folder(path) }
      try FileSystem.check(.reading, to: path)
    }
  }

  private static func folder(_ path: String) -> RecordFileError {
    RecordFileError(path, "cannot be read", because: "it is a folder; choose a file in it")
  }

  func close() {
    if !wasOpen { try? file.close() }
  }

  /// Returns the next rows, or `nil` at the end of the file. There may be only problems in them.
  ///
  /// - Throws: A ``RecordFileError``; any error of the check.
  mutating func next(atMost count: Int) throws -> ImportedRows? {
    while rows.isEmpty {
      guard !isAtEnd else { return nil }
      try read()
      try takeHeader()
    }
    return rows.removeFirst(count)
  }

  private mutating func read() throws {
    // Moved out, so that `self` can be mutated while the buffer is read.
    var buffer: [UInt8] = []
    swap(&buffer, &self.buffer)
    defer { swap(&buffer, &self.buffer) }
    let count = try RecordFileError.reading(path) {
      try unsafe buffer.withUnsafeMutableBytes { buffer in
        isFile
          ? try unsafe file.read(into: buffer) : try unsafe file.read(into: buffer, waiting: check)
      }
    }
    byteCount += count
    let piece = buffer.span.extracting(..<count)
    if encoding == .utf8 { return take(piece, isLast: count == 0) }
    let text = try decode(piece)
    // Bytes that were held back precede the end.
    take(text.span, isLast: count == 0 && text.isEmpty)
  }

  private mutating func take(_ text: Span<UInt8>, isLast: Bool) {
    isAtEnd = isLast
    if let batch = isLast ? csv?.finish() : csv?.read(text) { rows.take(batch) }
    if let batch = isLast ? json?.finish() : json?.read(text) { rows.take(batch) }
  }

  /// Detects the encoding of the file, and converts the bytes to UTF-8.
  ///
  /// - Parameter piece: The next bytes; none at the end.
  private mutating func decode(_ piece: Span<UInt8>) throws -> [UInt8] {
    prefix.append(piece)
    encoding = encoding ?? TextEncoding(prefix: prefix, isWhole: piece.isEmpty)
    guard let encoding else { return [] }
    var held: [UInt8] = []
    swap(&held, &prefix)
    switch encoding {
    case .utf8: return held
    case .utf16(let isBigEndian):
      var transcoder = transcoder ?? UTF16Transcoder(isBigEndian: isBigEndian)
      var text: [UInt8] = []
      transcoder.append(held.span, to: &text)
      if piece.isEmpty { transcoder.finish(&text) }
      self.transcoder = transcoder
      return text
    case .unsupported(let name):
      throw RecordFileError(
        path, "cannot be read",
        because: """
          it looks like \(name), but only UTF-8 and UTF-16 with a byte order mark can be read. Save it as UTF-8, or \
          convert it, for example with `iconv -f \(name) -t UTF-8`
          """)
    }
  }

  private mutating func takeHeader() throws {
    guard needsHeader else { return }
    if let problem = rows.problems.first, rows.firstLine.map({ problem.line < $0 }) ?? true {
      throw RecordFileError(path, "has no header", because: "\(problem)")
    }
    guard let header = rows.removeHeader() else {
      guard isAtEnd else { return }
      throw RecordFileError(
        path, "has no header", because: "it is empty; its first line must name the columns")
    }
    needsHeader = false
    rows.header = try header.enumerated().map { index, name in
      guard let text = name.text else {
        throw RecordFileError(
          path, "has no usable header",
          because: """
            the name of column \(index + 1) in its first line is not UTF-8. Save the file as UTF-8, or convert it, \
            for example with `iconv -f WINDOWS-1252 -t UTF-8`
            """)
      }
      if header.count == 1, !name.isQuoted { try checkDelimiter(text) }
      return text
    }
  }

  /// Throws an error if the name of the only column contains another delimiter.
  private func checkDelimiter(_ name: String) throws {
    guard let other = CSVDelimiter.allCases.first(where: { name.utf8.contains($0.byte) }) else {
      return
    }
    throw RecordFileError(
      path, "has no header",
      because: """
        its first line has only the name \(name.shortText). Set the delimiter to \(other), or put the name in quotes.
        """)
  }
}
