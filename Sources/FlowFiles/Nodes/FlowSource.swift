internal import SystemSupport

/// The bytes of a flow file, which are valid UTF-8 without control characters.
struct FlowSource {
  /// The text, without a byte order mark.
  let bytes: [UInt8]

  /// Checks the bytes of a file.
  ///
  /// - Parameter limit: The maximum number of bytes.
  /// - Throws: The first problem. Readers of YAML and JSON have other messages for these problems, and
  ///   libyaml has no position for them.
  init(_ file: [UInt8], limit: Int = FlowLimits.bytes) throws(FlowSyntaxError) {
    guard file.count <= limit else {
      throw FlowSyntaxError(nil, "the file is too large; the limit is \(limit >> 20) MiB")
    }
    // With or without a byte order mark, the first character of UTF-16 is an ASCII character.
    let start = file.prefix(2)
    guard start != [0xFF, 0xFE], start != [0xFE, 0xFF], file.count < 2 || !start.contains(0) else {
      throw FlowSyntaxError(.start, "the file is in UTF-16; save it in UTF-8")
    }
    bytes = file.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(file.dropFirst(3)) : file
    do { _ = try UTF8Span(validating: bytes.span) } catch {
      throw problem(
        at: error.byteOffsets.lowerBound,
        "the byte 0x\(String(bytes[error.byteOffsets.lowerBound], radix: 16)) is not valid UTF-8; "
          + "save the file in UTF-8")
    }
    if let (index, scalar) = bytes.firstForbiddenScalar {
      throw problem(at: index, "the control character \(scalar.named) is not allowed")
    }
  }

  /// Whether the text has no values.
  var isEmpty: Bool { bytes.allSatisfy(\.isJSONSpace) }

  static let emptyMessage = "the file is empty; expected the keys 'flow' and 'steps'"

  private func problem(at index: Int, _ message: String) -> FlowSyntaxError {
    var locator = FlowLocator(bytes)
    return FlowSyntaxError(locator.location(of: index), message)
  }
}

extension [UInt8] {
  /// The first character that YAML does not allow, in bytes that are valid UTF-8.
  fileprivate var firstForbiddenScalar: (index: Int, UnicodeScalar)? {
    for (index, byte) in enumerated() {
      switch byte {
      case .tab, .lineFeed, .carriageReturn: continue
      case 0..<0x20, 0x7F: return (index, UnicodeScalar(byte))
      // U+0080 to U+009F, of which U+0085 is a line end.
      case 0xC2:
        let second = self[index + 1]
        if second < 0xA0, second != 0x85 { return (index, UnicodeScalar(second)) }
      // U+FFFE and U+FFFF.
      case 0xEF where self[index + 1] == 0xBF && self[index + 2] >= 0xBE:
        return (index, self[index + 2] == 0xBE ? "\u{FFFE}" : "\u{FFFF}")
      default: continue
      }
    }
    return nil
  }
}

/// The format of a flow file.
package enum FlowFileFormat: Sendable {
  case json
  /// YAML, of which JSON is almost a part. Without libyaml, this is ``yamlWithoutLibrary``.
  case yaml
  /// JSON, with a message for other files that says why YAML is not read.
  case yamlWithoutLibrary

  /// The format of the file at a path: JSON for names that end in `.json`. libyaml reads most JSON,
  /// but not surrogate pairs such as `\ud83d\ude80`, and not keys of more than 1,024 characters.
  init(path: String) { self = path.lowercased().hasSuffix(".json") ? .json : .yaml }
}

extension FlowNodeTree {
  init(_ source: FlowSource, _ format: FlowFileFormat) throws(FlowSyntaxError) {
    switch format {
    case .json: self = try JSONNodeReader.tree(source)
    case .yaml:
      #if canImport(CYAML)
        self = try YAMLNodeReader.tree(source)
      #else
        self = try JSONNodeReader.treeWithoutYAML(source)
      #endif
    case .yamlWithoutLibrary: self = try JSONNodeReader.treeWithoutYAML(source)
    }
  }
}
