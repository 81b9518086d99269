import CompositeOperations

/// The options of every command: `--trace FILE` and `--timeline FILE`.
struct FlowOptions {
  static let usage = """
      --trace FILE      writes a trace for Perfetto and Chrome (.json), OpenTelemetry (.otlp.json), Mermaid (.mmd) or
                        Graphviz (.dot), or as text
      --timeline FILE   writes a timeline, as a web page (.html) or as an image (.svg)
    """

  private(set) var trace: String?
  private(set) var timeline: String?

  /// Takes an option and its value from the arguments, if it is one of these options.
  ///
  /// - Returns: Whether the argument was one of these options.
  mutating func take(
    _ argument: RawPath, from rest: inout ArraySlice<RawPath>, for command: String
  ) throws(UsageError) -> Bool {
    switch argument.utf8 {
    case "--trace": trace = try Self.file(behind: "--trace", in: &rest, for: command)
    case "--timeline":
      let name = try Self.file(behind: "--timeline", in: &rest, for: command)
      guard [".html", ".svg"].contains(where: name.lowercased().hasSuffix) else {
        throw UsageError(
          "\(command): invalid timeline file \(name); expected a name that ends in .html or .svg")
      }
      timeline = name
    default: return false
    }
    return true
  }

  private static func file(
    behind option: String, in rest: inout ArraySlice<RawPath>, for command: String
  ) throws(UsageError) -> String {
    guard let name = rest.popFirst()?.utf8, !name.isEmpty else {
      throw UsageError("\(command): \(option) without a FILE; expected the name of a file to write")
    }
    return name
  }
}
