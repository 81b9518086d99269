/// The format of flow files, generated from the table of keys.
package enum FlowSchema {
  /// A JSON schema (draft 2020-12) in JSON with indented lines, for editors.
  ///
  /// It knows the keys and the shapes of values. It does not know names of other steps, `${name}`, or
  /// any other rule about several values. A scalar may have any type that an editor gives it, because
  /// flow files keep it as text: `version: 1.10` and `no` are texts.
  package static var json: String { schema.json }

  /// A Markdown table of the keys. Texts in quotation marks become code, so that `*` is no emphasis.
  package static var markdown: String {
    let rows = FlowKey.allCases.flatMap { key in
      let places = FlowKey.Place.allCases.filter { key.places.contains($0) }
      let summaries = Dictionary(grouping: places) { key.summary(in: $0) }
      return places.map { key.summary(in: $0) }.unique.map { summary in
        let names = (summaries[summary] ?? []).map(\.rawValue).joined(separator: ", ")
        let text = String(summary.map { $0 == "'" ? "`" : $0 })
        return "| `\(key.rawValue)` | \(names) | \(text) |"
      }
    }
    return (["| key | place | meaning |", "|---|---|---|"] + rows).joined(separator: "\n")
  }

  private static var schema: SchemaNode {
    .object(
      [
        ("$schema", .text("https://json-schema.org/draft/2020-12/schema")),
        ("title", .text("Flow file")),
      ] + members(of: .file) + [("$defs", .object(definitions))])
  }

  private static var definitions: [(String, SchemaNode)] {
    [
      ("scalar", .types(["string", "number", "boolean", "null"])),
      ("text", .types(["string", "number", "boolean"])),
      ("path", .types(["string", "number", "boolean"], ("minLength", .number(1)))),
      ("name", .types(["string", "number", "boolean"], ("pattern", .text(namePattern)))),
      ("duration", .types(["string"], ("pattern", .text(#"^[0-9]+(\.[0-9]{1,9})?(ms|s|m|h)$"#)))),
      ("program", .list(.reference("text"), minimum: 1)),
      ("shell", .types(["string"], ("pattern", .text(#"\S"#)))),
      ("command", .any([.reference("shell"), .reference("program")])),
      (
        "commands",
        .any([.reference("command"), .list(.reference("program"), minimum: 1)])
      ),
      ("names", .any([.reference("name"), .list(.reference("name"), isUnique: true)])),
      ("paths", .any([.reference("path"), .list(.reference("path"))])),
      ("permits", .mapping(names: namePattern, .range(FlowRanges.permits))),
      ("variables", .mapping(names: "^[^=]+$", .reference("scalar"))),
      ("values", .mapping(names: "^(?!each$)[A-Za-z_][A-Za-z0-9_]*$", .reference("scalar"))),
      ("each", .any([.reference("path"), .list(.reference("text"), isUnique: true), source])),
      ("defaults", .object(members(of: .defaults))),
      ("step", .object(members(of: .step))),
    ]
  }

  private static let namePattern = #"^(?!\.{1,2}$)[A-Za-z0-9._-]+$"#

  /// `each` as a mapping.
  private static var source: SchemaNode {
    .object([
      ("type", .text("object")),
      (
        "properties",
        .object(
          FlowEachKey.allCases.map { key in
            let value: SchemaNode =
              switch key {
              case .linesOf, .sameAs: .reference("name")
              case .rowsOf: .reference("path")
              case .matrix:
                .mapping(
                  names: "^[A-Za-z_][A-Za-z0-9_]*$", .list(.reference("text"), isUnique: true))
              }
            return (key.rawValue, value.describing(key.summary))
          })
      ), ("minProperties", .number(1)), ("maxProperties", .number(1)),
      ("additionalProperties", .boolean(false)),
    ])
  }

  private static func members(of place: FlowKey.Place) -> [(String, SchemaNode)] {
    let properties = place.keys.map { key in
      (
        key.rawValue,
        key.shape(in: place).schema.describing(key.summary(in: place))
      )
    }
    return [
      ("type", .text("object")), ("properties", .object(properties)),
      ("required", .array(place.requiredKeys.map { .text($0.rawValue) })),
      ("additionalProperties", .boolean(false)),
    ]
  }
}

extension FlowShape {
  fileprivate var schema: SchemaNode {
    switch self {
    case .name: .reference("name")
    case .template: .reference("path")
    case .templates: .reference("paths")
    case .names: .reference("names")
    case .words: .reference("program")
    case .command: .reference("command")
    case .commands: .reference("commands")
    case .each: .reference("each")
    case .duration: .reference("duration")
    case .statuses:
      .any([.range(FlowRanges.status), .list(.range(FlowRanges.status), minimum: 1)])
    case .number(let range): .range(range)
    case .flag: .types(["boolean"])
    case .values: .reference("values")
    case .variables: .reference("variables")
    case .permits: .reference("permits")
    case .locks: .any([.reference("names"), .reference("permits")])
    case .choice(let words): .object([("enum", .array(words.map { .text($0) }))])
    case .occasions:
      .object([
        ("type", .text("object")),
        (
          "properties",
          .object(FlowOccasion.allCases.map { ($0.rawValue, .reference("command")) })
        ), ("additionalProperties", .boolean(false)),
      ])
    case .keep:
      .object([
        ("type", .text("object")),
        (
          "properties",
          .object([
            ("runs", .range(FlowRanges.keptRuns)), ("days", .range(FlowRanges.keptDays)),
          ])
        ), ("minProperties", .number(1)), ("additionalProperties", .boolean(false)),
      ])
    case .defaults: .reference("defaults")
    case .steps:
      .object([
        ("type", .text("object")), ("minProperties", .number(1)),
        ("propertyNames", .reference("name")), ("additionalProperties", .reference("step")),
      ])
    }
  }
}

extension [String] {
  /// The first occurrences of the texts.
  fileprivate var unique: [String] {
    var seen: Set<String> = []
    return filter { seen.insert($0).inserted }
  }
}
