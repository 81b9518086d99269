/// The error of a run that ended while its program is still running, because this process may not
/// signal the program.
///
/// This happens to a program that has changed its user, as `sudo` does, when its run is cancelled.
/// The error is then the late outcome of the run. SIGTERM and SIGKILL were sent to the process
/// group, as far as that was permitted.
public struct ProcessLeftRunningError: Error, CustomStringConvertible {
  /// The program, as it was passed to the operation.
  public let program: String
  /// The arguments of the program.
  public let arguments: [String]
  /// The process identifier of the program.
  public let processIdentifier: Int32

  init(_ operation: ProcessOperation, identifier: Int32) {
    program = operation.program
    arguments = operation.arguments
    processIdentifier = identifier
  }

  /// The command, the process identifier, and what to do.
  public var description: String {
    "\(CommandText(program, arguments)) is still running as process \(processIdentifier): "
      + "this process may not signal it. End it by hand, or as the user that it runs as."
  }
}
