public import Foundation
internal import SystemSupport

extension FlowFile {
  /// Reads and checks the file at a path, for a run.
  ///
  /// - Parameters:
  ///   - path: The path of the file: YAML, or JSON if it ends in `.json`.
  ///   - texts: The texts of values, by name, instead of their defaults.
  ///   - selection: Which steps will run. If unknown keys are the only problems, inputs of these steps that do not exist
  ///     are reported, too; without a problem, the run reports them.
  ///   - environment: The variables of the process, which precede the variables of `dotenv`.
  /// - Throws: All problems of the file, including values that have no text. Without such problems,
  ///   those of the texts; then those of a file of `dotenv`.
  public init(
    contentsOf path: String, setting texts: [String: String] = [:],
    running selection: FlowSelection = FlowSelection(),
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(FlowFileError) {
    self = try FlowFile(
      parsing: Self.bytes(of: path), path: path, setting: texts, running: selection
    )
    .setting(texts, hasCheckedOutputs: true).readingVariables(besides: environment)
  }

  /// Reads and checks the file at a path, with values that may have no text.
  ///
  /// - Throws: All problems of the file.
  package static func read(contentsOf path: String) throws(FlowFileError) -> FlowFile {
    try FlowFile(parsing: bytes(of: path), path: path)
  }

  /// Checks a file.
  ///
  /// - Parameters:
  ///   - bytes: The contents.
  ///   - path: The path for messages. Its extension determines the format.
  ///   - format: The format, instead of the format of the path.
  ///   - texts: The texts that a run sets, so that values without a text are a problem; nil for a file
  ///     that is not run.
  ///   - selection: Which steps will run.
  /// - Throws: All problems of the file.
  package init(
    parsing bytes: [UInt8], path: String, format: FlowFileFormat? = nil,
    setting texts: [String: String]? = nil, running selection: FlowSelection = FlowSelection()
  ) throws(FlowFileError) {
    let tree: FlowNodeTree
    do throws(FlowSyntaxError) {
      tree = try FlowNodeTree(FlowSource(bytes), format ?? FlowFileFormat(path: path))
    } catch {
      throw FlowFileError(path: path, problems: [error.problem])
    }
    self = try FlowFileReader.file(tree, path: path, setting: texts, running: selection)
  }

  private static func bytes(of path: String) throws(FlowFileError) -> [UInt8] {
    do throws(SystemError) { return try contents(of: path, limit: FlowLimits.bytes) } catch {
      throw FlowFileError(
        path: path, problems: [FlowProblem(nil, "the file cannot be read: \(error)")])
    }
  }

  /// Returns the bytes of a file: at least one more than the limit if it is larger.
  static func contents(of path: String, limit: Int) throws(SystemError) -> [UInt8] {
    let file = try FileDescriptor.open(path, .readOnly)
    defer { try? file.close() }
    var contents: [UInt8] = []
    contents.reserveCapacity(min(try file.status.size, limit))
    var block = [UInt8](repeating: 0, count: 1 << 16)
    // A device may have no end, and has no size.
    while contents.count <= limit {
      let count = try file.read(into: &block)
      if count == 0 { break }
      contents += block[..<count]
    }
    return contents
  }
}
