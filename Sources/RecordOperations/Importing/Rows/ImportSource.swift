internal import SystemFiles

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Rows of a file, some at a time. Whoever made it closes it, once; what was open before stays so.
struct ImportSource {
  private let path: String
  private let file: OpenFile
  private let wasOpen: Bool
  private let isFile: Bool
  private let check: () throws -> Void
  /// One of these is there.
  private var csv: CSVReader?
  private var json: JSONReader?
  private var buffer = [UInt8](repeating: 0, count: 1 << 20)
  private var isAtEnd = false
  /// Nil until enough of the file has been read to detect it.
  private var encoding: TextEncoding?
  /// The bytes that were read until then.
  private var prefix: [UInt8] = []
  private var transcoder: UTF16Transcoder?

  /// Whether the first row is still to come that names the columns.
  private var needsHeader: Bool
  private var rows = ImportedRows()

  /// How many bytes were read.
  private(set) var byteCount = 0
  /// How many there are; nil if nobody knows.
  let size: Int?

  /// - Parameters:
  ///   - descriptor: What is read in place of the path, if it is open already.
  ///   - check: Asked while what is no file has nothing; it throws to end the wait.
  /// - Throws: A ``RecordFileError``.
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
      try descriptor.map(OpenFile.init) ?? OpenFile(path, O_RDONLY | OpenFile.withoutWaiting)
    }
    do {
      let status = try RecordFileError.reading(path) { try file.status }
      if status.kind == .folder { throw Self.folder(path) }
      isFile = status.kind == .file
      // Where an open one stands nobody says.
      size = isFile && !wasOpen ? status.size : nil
      self.file = file
    } catch {
      if descriptor == nil { try? file.close() }
      throw error
    }
  }

  /// Checks that a path can be read, without opening it: a pipe may be opened once only.
  ///
  /// - Throws: A ``RecordFileError``.
  static func check(_ path: String) throws {
    try RecordFileError.reading(path) {
      let status = try OpenFolder.working.status(of: FileName(path), followingLink: true)
      if status.kind == .folder { throw folder(path) }
      try FileSystem.checkReading(path)
    }
  }

  private static func folder(_ path: String) -> RecordFileError {
    RecordFileError(path, "cannot be read", because: "it is a folder; choose a file in it")
  }

  func close() {
    if !wasOpen { try? file.close() }
  }

  /// The next rows.
  ///
  /// - Returns: Nil at the end of the file. There may be problems alone in what there is.
  /// - Throws: A ``RecordFileError``.
  mutating func next(atMost count: Int) throws -> ImportedRows? {
    while rows.isEmpty {
      guard !isAtEnd else { return nil }
      try read()
      try takeHeader()
    }
    return rows.removeFirst(count)
  }

  private mutating func read() throws {
    // Taken out, so that what is read from it can go into this.
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

  /// Where a file has something else between its cells, it has one column whose name has that in it.
  private func checkDelimiter(_ name: String) throws {
    guard let other = CSVDelimiter.allCases.first(where: { name.utf8.contains($0.byte) }) else {
      return
    }
    throw RecordFileError(
      path, "has no header",
      because: """
        its first line has only the name \(name.shown). Set the delimiter to \(other), or put the name in quotes.
        """)
  }
}
