public import Foundation

/// The error of a program whose status was not accepted.
///
/// Its description has the command, the status and the last lines of standard error.
public struct ProcessExitError: Error, CustomStringConvertible {
  /// The program, as it was passed to the operation.
  public let program: String
  /// The arguments of the program, with U+FFFD for bytes that are not UTF-8.
  public let arguments: [String]
  private let command: String
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

  init(
    _ configuration: ProcessConfiguration, _ result: ProcessResult, lastErrorOutput: [UInt8]
  ) {
    program = configuration.program
    arguments = configuration.argumentTexts
    command = configuration.command
    folder = configuration.folder
    self.result = result
    self.lastErrorOutput = String(decoding: lastErrorOutput, as: UTF8.self)
    if configuration.isMerged {
      source = configuration.output.isKept ? "its outputs" : nil
    } else {
      source = configuration.errorOutput.isKept ? "standard error" : nil
    }
  }

  /// The command, the status, and the last 20 lines of `lastErrorOutput` at most.
  public var description: String {
    let place = folder.map { " in " + CommandText.quoted($0) } ?? ""
    let head = "\(command)\(place) ended with \(result.status)"
    let lines = lastErrorOutput.split(whereSeparator: \.isNewline).suffix(20)
    if lines.isEmpty { return head + (source.map { " and wrote nothing to \($0)" } ?? "") }
    return head + ":\n" + lines.map { "  \($0)" }.joined(separator: "\n")
  }
}

extension ProcessExitError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}

/// The error of a program whose exit status is unknown, because other code in this process has
/// taken it.
public struct ProcessStatusLostError: Error, CustomStringConvertible {
  /// The program, as it was passed to the operation.
  public let program: String
  /// The arguments of the program, with U+FFFD for bytes that are not UTF-8.
  public let arguments: [String]
  private let command: String

  init(_ configuration: ProcessConfiguration) {
    program = configuration.program
    arguments = configuration.argumentTexts
    command = configuration.command
  }

  /// The command, the problem, and what to do.
  public var description: String {
    "\(command) has ended, but its exit status is lost. This process must "
      + "neither ignore SIGCHLD nor wait for children that it does not know: look for "
      + "signal(SIGCHLD, SIG_IGN) and wait()."
  }
}

extension ProcessStatusLostError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}

/// The error of a run that ended while its program is still running, because this process may not
/// signal the program.
///
/// This happens to a program that has changed its user, as `sudo` does, when its run is cancelled.
/// The error is then the late outcome of the run. SIGTERM and SIGKILL were sent to the process
/// group, as far as that was permitted.
public struct ProcessLeftRunningError: Error, CustomStringConvertible {
  /// The program, as it was passed to the operation.
  public let program: String
  /// The arguments of the program, with U+FFFD for bytes that are not UTF-8.
  public let arguments: [String]
  private let command: String
  /// The process identifier of the program.
  public let processIdentifier: Int32

  init(_ configuration: ProcessConfiguration, identifier: Int32) {
    program = configuration.program
    arguments = configuration.argumentTexts
    command = configuration.command
    processIdentifier = identifier
  }

  /// The command, the process identifier, and what to do.
  public var description: String {
    "\(command) is still running as process \(processIdentifier): "
      + "this process may not signal it. End it by hand, or as the user that it runs as."
  }
}

extension ProcessLeftRunningError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}
