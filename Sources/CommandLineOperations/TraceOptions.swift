/// The options `--trace FILE` and `--timeline FILE`, which every command can offer.
///
/// ```swift
/// import CommandLineOperations
/// struct CountCommand {
///   private var options = TraceOptions()
///   private var paths: [RawPath] = []
///
///   init(_ arguments: ArraySlice<RawPath>) throws(UsageError) {
///     var rest = arguments
///     while let argument = rest.popFirst() {
///       if try options.take(argument, from: &rest, for: "count") { continue }
///       paths.append(argument)
///     }
///   }
/// }
/// ```
///
/// A ``ProgramObservation`` writes the files.
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

  /// Creates options of a command line that has none.
  public init() {}

  /// Takes an option and its value from the arguments, if it is one of these options.
  ///
  /// If an option is repeated, its last value counts.
  ///
  /// - Parameters:
  ///   - argument: The argument that may be an option.
  ///   - rest: The arguments after it. The value of the option is removed from their beginning.
  ///   - command: The name of the command, which precedes the message of an error.
  /// - Returns: Whether the argument was one of these options.
  /// - Throws: ``UsageError`` if the value is missing, empty or not UTF-8, or if the name of a timeline
  ///   ends neither in `.html` nor in `.svg`.
  public mutating func take(
    _ argument: RawPath, from rest: inout ArraySlice<RawPath>, for command: String
  ) throws(UsageError) -> Bool {
    switch argument.text {
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
    guard let name = rest.popFirst()?.text, !name.isEmpty else {
      throw UsageError("\(command): \(option) without a FILE; expected the name of a file to write")
    }
    return name
  }
}
