/// A program that ended in another way than was accepted.
///
/// It prints the command, the status and the last lines of standard error.
public struct ProcessExitError: Error, CustomStringConvertible {
  /// The program, as it was given.
  public let program: String
  /// Its arguments.
  public let arguments: [String]
  /// Where it ran; nil for where this process does.
  public let folder: String?
  /// How it ended, and what was kept of what it wrote.
  public let result: ProcessResult
  /// The last 4 KiB at most of what it wrote to standard error, or to standard output where they are merged; also
  /// where they are not kept. Empty where they went elsewhere than to this process.
  public let lastErrorOutput: String
  /// Where that comes from; nil if this process did not read it.
  private let source: String?

  init(_ operation: ProcessOperation, _ result: ProcessResult, lastErrorOutput: [UInt8]) {
    program = operation.program
    arguments = operation.arguments
    folder = operation.folder
    self.result = result
    self.lastErrorOutput = String(decoding: lastErrorOutput, as: UTF8.self)
    if operation.isMerged {
      source = operation.output.isKept ? "its outputs" : nil
    } else {
      source = operation.errorOutput.isKept ? "standard error" : nil
    }
  }

  public var description: String {
    let place = folder.map { " in " + CommandText.quoted($0) } ?? ""
    let head = "\(CommandText(program, arguments))\(place) ended with \(result.status)"
    let lines = lastErrorOutput.split(whereSeparator: \.isNewline).suffix(20)
    if lines.isEmpty { return head + (source.map { " and wrote nothing to \($0)" } ?? "") }
    return head + ":\n" + lines.map { "  \($0)" }.joined(separator: "\n")
  }
}
