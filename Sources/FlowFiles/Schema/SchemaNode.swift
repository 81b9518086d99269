internal import SystemSupport

/// A value of a JSON schema, with its members in order.
indirect enum SchemaNode {
  case text(String)
  case number(Int)
  case boolean(Bool)
  case array([SchemaNode])
  case object([(String, SchemaNode)])

  static func reference(_ name: String, description: String? = nil) -> SchemaNode {
    let reference = SchemaNode.object([("$ref", .text("#/$defs/\(name)"))])
    return description.map { reference.describing($0) } ?? reference
  }

  static func types(_ names: [String], _ members: (String, SchemaNode)...) -> SchemaNode {
    let type: SchemaNode = names.count == 1 ? .text(names[0]) : .array(names.map { .text($0) })
    return .object([("type", type)] + members)
  }

  static func any(_ nodes: [SchemaNode]) -> SchemaNode { .object([("anyOf", .array(nodes))]) }

  static func list(
    _ element: SchemaNode, minimum: Int = 0, isUnique: Bool = false
  ) -> SchemaNode {
    var members: [(String, SchemaNode)] = [("type", .text("array")), ("items", element)]
    if minimum > 0 { members.append(("minItems", .number(minimum))) }
    if isUnique { members.append(("uniqueItems", .boolean(true))) }
    return .object(members)
  }

  static func mapping(names pattern: String, _ value: SchemaNode) -> SchemaNode {
    .object([
      ("type", .text("object")), ("propertyNames", .object([("pattern", .text(pattern))])),
      ("additionalProperties", value),
    ])
  }

  /// A whole number, or its digits as a text.
  static func range(_ range: ClosedRange<Int>) -> SchemaNode {
    .any([
      .object([
        ("type", .text("integer")), ("minimum", .number(range.lowerBound)),
        ("maximum", .number(range.upperBound)),
      ]), .types(["string"], ("pattern", .text("^[0-9]+$"))),
    ])
  }

  /// The object with a description first.
  func describing(_ text: String) -> SchemaNode {
    guard case .object(let members) = self else { return self }
    return .object([("description", .text(text))] + members)
  }

  /// The value as JSON with indented lines. Values of 80 characters at most are on one line.
  var json: String { json(indentation: "") + "\n" }

  private func json(indentation: String) -> String {
    let inner = indentation + "  "
    let line = lineJSON
    if line.utf8.count + indentation.utf8.count <= 80 { return line }
    switch self {
    case .text, .number, .boolean: return line
    case .array(let elements):
      let lines = elements.map { inner + $0.json(indentation: inner) }
      return "[\n\(lines.joined(separator: ",\n"))\n\(indentation)]"
    case .object(let members):
      let lines = members.map { name, value in
        "\(inner)\(SchemaNode.text(name).lineJSON): \(value.json(indentation: inner))"
      }
      return "{\n\(lines.joined(separator: ",\n"))\n\(indentation)}"
    }
  }

  /// The value as JSON on one line.
  private var lineJSON: String {
    switch self {
    case .text(let text):
      var bytes: [UInt8] = []
      bytes.appendJSONString(text)
      return String(decoding: bytes, as: UTF8.self)
    case .number(let number): return "\(number)"
    case .boolean(let boolean): return "\(boolean)"
    case .array(let elements): return "[\(elements.map(\.lineJSON).joined(separator: ", "))]"
    case .object(let members):
      let texts = members.map { "\(SchemaNode.text($0).lineJSON): \($1.lineJSON)" }
      return "{\(texts.joined(separator: ", "))}"
    }
  }
}
