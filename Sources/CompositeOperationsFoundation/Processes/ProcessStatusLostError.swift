/// The error of a program whose exit status is unknown, because other code in this process has
/// taken it.
public struct ProcessStatusLostError: Error, CustomStringConvertible {
  /// The program, as it was passed to the operation.
  public let program: String
  /// The arguments of the program.
  public let arguments: [String]

  init(_ operation: ProcessOperation) {
    program = operation.program
    arguments = operation.arguments
  }

  /// The command, the problem, and what to do.
  public var description: String {
    "\(CommandText(program, arguments)) has ended, but its exit status is lost. This process must "
      + "neither ignore SIGCHLD nor wait for children that it does not know: look for "
      + "signal(SIGCHLD, SIG_IGN) and wait()."
  }
}
