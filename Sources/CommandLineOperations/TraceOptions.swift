/// Two options that every command can offer: `--trace FILE` and `--timeline FILE`.
public struct TraceOptions: Sendable {
  /// The lines that describe the options, for the usage of a command.
  public static let usage = """
      --trace FILE      writes a trace for Perfetto and Chrome (.json), OpenTelemetry (.otlp.json), Mermaid (.mmd) or
                        Graphviz (.dot), or as text
      --timeline FILE   writes a timeline, as a web page (.html) or as an image (.svg)
    """

  /// The file of `--trace`; nil without the option.
  public private(set) var trace: String?
  /// The file of `--timeline`; nil without the option.
  public private(set) var timeline: String?

  public init() {}

  /// Takes an option and its value from the arguments, if it is one of these options.
  ///
  /// - Returns: Whether the argument was one of these options.
  /// - Throws: ``UsageError`` if the value is missing or invalid.
  public mutating func take(
    _ argument: RawPath, from rest: inout ArraySlice<RawPath>, for command: String
  ) throws(UsageError) -> Bool {
    switch argument.utf8 {
    case "--trace": trace = try Self.file(after: "--trace", in: &rest, for: command)
    case "--timeline":
      let name = try Self.file(after: "--timeline", in: &rest, for: command)
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
    after option: String, in rest: inout ArraySlice<RawPath>, for command: String
  ) throws(UsageError) -> String {
    guard let name = rest.popFirst()?.utf8, !name.isEmpty else {
      throw UsageError("\(command): \(option) without a FILE; expected the name of a file to write")
    }
    return name
  }
}
