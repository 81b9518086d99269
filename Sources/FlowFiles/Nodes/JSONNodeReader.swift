internal import SystemSupport

/// Reads JSON into nodes. Numbers, `true`, `false` and `null` are texts, as in YAML.
struct JSONNodeReader {
  private var scanner: JSONScanner
  private var locator: FlowLocator
  private var nodes = 0

  private init(_ source: FlowSource) {
    scanner = JSONScanner(source.bytes)
    locator = FlowLocator(source.bytes)
  }

  static func tree(_ source: FlowSource) throws(FlowSyntaxError) -> FlowNodeTree {
    guard !source.isEmpty else { throw FlowSyntaxError(.start, FlowSource.emptyMessage) }
    var reader = JSONNodeReader(source)
    do throws(Failure) {
      return FlowNodeTree(root: try reader.whole(), problems: [])
    } catch {
      switch error {
      case .limit(let error): throw error
      case .syntax(let error):
        throw FlowSyntaxError(
          reader.locator.location(of: reader.scanner.position), error.reason)
      }
    }
  }

  /// Reads the file of a program that was built without libyaml.
  static func treeWithoutYAML(_ source: FlowSource) throws(FlowSyntaxError) -> FlowNodeTree {
    do throws(FlowSyntaxError) { return try tree(source) } catch {
      if source.isEmpty { throw error }
      throw FlowSyntaxError(
        error.problem.location,
        error.problem.message
          + "; this program reads only JSON, because YAML needs libyaml at build time")
    }
  }

  private enum Failure: Error {
    case syntax(JSONSyntaxError)
    case limit(FlowSyntaxError)
  }

  private mutating func whole() throws(Failure) -> FlowNode {
    let root = try node(depth: 0)
    scanner.skipSpace()
    if scanner.next != nil { throw .syntax(scanner.unexpected("the end of the file")) }
    return root
  }

  private mutating func node(depth: Int) throws(Failure) -> FlowNode {
    scanner.skipSpace()
    let start = scanner.position
    let location = locator.location(of: start)
    nodes += 1
    if nodes > FlowLimits.nodes { throw .limit(.tooManyNodes(location)) }
    switch scanner.next {
    case .openingBracket:
      if depth == FlowLimits.depth { throw .limit(.tooDeep(location)) }
      return FlowNode(content: .list(try elements(depth)), location: location)
    case .openingBrace:
      if depth == FlowLimits.depth { throw .limit(.tooDeep(location)) }
      return FlowNode(content: .mapping(try entries(depth)), location: location)
    case .quote: return FlowNode(content: .text(try string()), location: location)
    case let byte? where byte == UInt8(ascii: "-") || byte.isDigit:
      do throws(JSONSyntaxError) {
        return FlowNode(content: .text(try scanner.number().text), location: location)
      } catch {
        throw .syntax(error)
      }
    default:
      for word in ["null", "true", "false"] as [StaticString] where scanner.consume(word) {
        return FlowNode(content: .text("\(word)"), location: location)
      }
      throw .syntax(scanner.unexpected("a string, number, list or object"))
    }
  }

  private mutating func elements(_ depth: Int) throws(Failure) -> [FlowNode] {
    if consumeEmpty(.closingBracket) { return [] }
    var elements: [FlowNode] = []
    repeat {
      elements.append(try node(depth: depth + 1))
    } while try consumeComma(orEnd: .closingBracket, "a comma or \"]\"")
    return elements
  }

  private mutating func entries(_ depth: Int) throws(Failure) -> [FlowNode.Entry] {
    if consumeEmpty(.closingBrace) { return [] }
    var entries: [FlowNode.Entry] = []
    repeat {
      scanner.skipSpace()
      guard scanner.next == .quote else { throw .syntax(scanner.unexpected("a string as the key")) }
      let location = locator.location(of: scanner.position)
      let key = try string()
      scanner.skipSpace()
      do throws(JSONSyntaxError) { try scanner.expect(.colon, "a colon") } catch {
        throw .syntax(error)
      }
      entries.append(
        FlowNode.Entry(key: key, location: location, value: try node(depth: depth + 1)))
    } while try consumeComma(orEnd: .closingBrace, "a comma or \"}\"")
    return entries
  }

  private mutating func string() throws(Failure) -> String {
    do throws(JSONSyntaxError) { return try scanner.string() } catch { throw .syntax(error) }
  }

  private mutating func consumeComma(
    orEnd end: UInt8, _ expected: String
  ) throws(Failure) -> Bool {
    do throws(JSONSyntaxError) {
      return try scanner.consumeComma(orEnd: end, expected)
    } catch {
      throw .syntax(error)
    }
  }

  /// Enters a list or an object, and leaves it if it is empty.
  ///
  /// - Returns: Whether it is empty.
  private mutating func consumeEmpty(_ end: UInt8) -> Bool {
    scanner.advance()
    scanner.skipSpace()
    guard scanner.next == end else { return false }
    scanner.advance()
    return true
  }
}

extension FlowSyntaxError {
  static func tooDeep(_ location: FlowLocation) -> FlowSyntaxError {
    FlowSyntaxError(location, "nested more than \(FlowLimits.depth) levels deep")
  }

  static func tooManyNodes(_ location: FlowLocation) -> FlowSyntaxError {
    FlowSyntaxError(location, "the file has more than \(FlowLimits.nodes) values")
  }
}
