internal import SystemSupport

extension FlowFile {
  /// Reads the files of `dotenv`, which are relative to the folder of the flow file.
  ///
  /// - Parameter inherited: The variables of the process. They precede the variables of the files,
  ///   so that `NAME=value coop flow run …` has an effect.
  /// - Throws: The first problem of a file, with its path; a problem of the flow file for a file
  ///   that cannot be read, unless its name ends in `?` and it does not exist.
  func readingVariables(
    besides inherited: [String: String]
  ) throws(FlowFileError) -> FlowFile {
    let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? ""
    let texts = texts
    var file = self
    for template in dotenv {
      var name = template.text(texts)
      let mayBeMissing = name.hasSuffix("?")
      if mayBeMissing { name.removeLast() }
      let dotenvPath = name.hasPrefix("/") ? name : folder + name
      let contents: [UInt8]
      do throws(SystemError) {
        contents = try Self.contents(of: dotenvPath, limit: FlowLimits.bytes)
      } catch {
        if mayBeMissing, error.isMissing { continue }
        let advice = error.isMissing ? "; write '\(name)?' if it may be missing" : ""
        throw FlowFileError(
          path: path,
          problems: [
            FlowProblem(
              template.location, "\(name.quoted) in dotenv cannot be read: \(error)\(advice)")
          ])
      }
      do throws(FlowSyntaxError) {
        let found = try DotenvReader.variables(in: contents, without: Set(texts.keys))
        file.variables.merge(found) { $1 }
      } catch {
        throw FlowFileError(path: dotenvPath, problems: [error.problem])
      }
    }
    file.variables = file.variables.filter { inherited[$0.key] == nil }
    return file
  }
}

/// Reads a file of variables: `NAME=value` in each line, with `export` before it or without.
///
/// A value ends at ` #` or at the end of the line, and has no spaces at its ends. A value in single
/// quotes is literal. In double quotes, `\n`, `\r`, `\t`, `\\`, `\"`, `\$` and a backslash before a
/// backtick are escapes. Values in quotes can have several lines.
///
/// Other tools replace `$name` and run commands in values without quotes and in double quotes. Here
/// this is an error, because the text would be wrong without a message.
struct DotenvReader {
  private let bytes: [UInt8]
  private var position = 0

  /// - Parameter values: The names of the values of the flow, which no variable may have.
  static func variables(
    in file: [UInt8], without values: Set<String>
  ) throws(FlowSyntaxError) -> [String: String] {
    var reader = DotenvReader(bytes: try FlowSource(file).bytes)
    var variables: [String: String] = [:]
    while let (name, value) = try reader.assignment(without: values) { variables[name] = value }
    return variables
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private var isAtLineEnd: Bool { next == nil || next == .lineFeed || next == .carriageReturn }

  /// - Returns: The next variable; nil at the end of the file.
  private mutating func assignment(
    without values: Set<String>
  ) throws(FlowSyntaxError) -> (String, String)? {
    while let byte = next {
      if byte == UInt8(ascii: "#") { skip { $0 != .lineFeed } }
      if next == nil || !byte.isJSONSpace && byte != UInt8(ascii: "#") { break }
      position += 1
    }
    guard next != nil else { return nil }
    let start = position
    var name = word()
    skipBlanks()
    if name == "export", next != UInt8(ascii: "=") { name = word() }
    skipBlanks()
    guard name.isValueName, next == UInt8(ascii: "=") else {
      throw problem(at: start, "expected NAME=value, with letters, digits and '_' in the name")
    }
    if name == "each" || values.contains(name) {
      throw problem(at: start, "the variable \(name.quoted) is also a value; rename one of them")
    }
    position += 1
    skipBlanks()
    let value =
      switch next {
      case UInt8(ascii: "'"), UInt8(ascii: "\""): try quoted(name)
      default: try plain(name)
      }
    return (name, value)
  }

  private mutating func plain(_ name: String) throws(FlowSyntaxError) -> String {
    var text: [UInt8] = []
    while let byte = next, !isAtLineEnd {
      let isComment = byte == UInt8(ascii: "#") && (text.isEmpty || text.last?.isBlank == true)
      if isComment { skip { $0 != .lineFeed } } else { text.append(try literal(byte, name)) }
    }
    while text.last?.isBlank == true { text.removeLast() }
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func quoted(_ name: String) throws(FlowSyntaxError) -> String {
    let start = position
    let quote = bytes[start]
    position += 1
    var text: [UInt8] = []
    while let byte = next, byte != quote {
      if quote == UInt8(ascii: "'") {
        text.append(byte)
        position += 1
      } else if byte == UInt8(ascii: "\\") {
        text.append(try escaped(name))
      } else {
        text.append(try literal(byte, name))
      }
    }
    guard next != nil else {
      throw problem(at: start, "the value of \(name.quoted) has no closing quote")
    }
    position += 1
    skipBlanks()
    guard isAtLineEnd || next == UInt8(ascii: "#") else {
      throw problem(at: position, "unexpected text after the closing quote of \(name.quoted)")
    }
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func escaped(_ name: String) throws(FlowSyntaxError) -> UInt8 {
    let start = position
    position += 1
    defer { position += 1 }
    switch next {
    case UInt8(ascii: "n"): return .lineFeed
    case UInt8(ascii: "r"): return .carriageReturn
    case UInt8(ascii: "t"): return .tab
    case let byte? where "\\\"$`".utf8.contains(byte): return byte
    default:
      throw problem(
        at: start, "unknown escape in the value of \(name.quoted); write '\\\\' for a backslash")
    }
  }

  /// Takes a byte that other tools may replace.
  private mutating func literal(_ byte: UInt8, _ name: String) throws(FlowSyntaxError) -> UInt8 {
    if byte == UInt8(ascii: "$") || byte == UInt8(ascii: "`") {
      let character = Character(UnicodeScalar(byte))
      throw problem(
        at: position,
        "'\(character)' in the value of \(name.quoted) is not replaced; write the value in single "
          + "quotes, or '\\\(character)' in double quotes")
    }
    position += 1
    return byte
  }

  private mutating func word() -> String {
    let start = position
    skip { !$0.isJSONSpace && $0 != UInt8(ascii: "=") }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func skipBlanks() { skip(\.isBlank) }

  private mutating func skip(_ isSkipped: (UInt8) -> Bool) {
    while let byte = next, isSkipped(byte) { position += 1 }
  }

  private func problem(at index: Int, _ message: String) -> FlowSyntaxError {
    var locator = FlowLocator(bytes)
    return FlowSyntaxError(locator.location(of: index), message)
  }
}

extension UInt8 {
  fileprivate var isBlank: Bool { self == .tab || self == UInt8(ascii: " ") }
}
