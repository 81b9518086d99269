/// The error of a program whose status was not accepted.
///
/// Its description has the command, the status and the last lines of standard error.
public struct ProcessExitError: Error, CustomStringConvertible {
  /// The program, as it was passed to the operation.
  public let program: String
  /// The arguments of the program.
  public let arguments: [String]
  /// The working folder of the program; nil for the one of this process.
  public let folder: String?
  /// How the program ended, and the output that was kept.
  public let result: ProcessResult
  /// The end of standard error, at most 4 KiB; or of standard output, if the two are merged.
  ///
  /// It is available even if the output is not kept. It is empty if the output went elsewhere than
  /// to this process.
  public let lastErrorOutput: String
  /// The name of the output in `lastErrorOutput`; nil if this process did not read it.
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

  /// The command, the status, and the last 20 lines of `lastErrorOutput` at most.
  public var description: String {
    let place = folder.map { " in " + CommandText.quoted($0) } ?? ""
    let head = "\(CommandText(program, arguments))\(place) ended with \(result.status)"
    let lines = lastErrorOutput.split(whereSeparator: \.isNewline).suffix(20)
    if lines.isEmpty { return head + (source.map { " and wrote nothing to \($0)" } ?? "") }
    return head + ":\n" + lines.map { "  \($0)" }.joined(separator: "\n")
  }
}
