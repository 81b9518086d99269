/// A program that has ended in a way that nobody can tell, because somebody else took its status.
public struct ProcessStatusLostError: Error, CustomStringConvertible {
  /// The program, as it was given.
  public let program: String
  /// Its arguments.
  public let arguments: [String]

  init(_ operation: ProcessOperation) {
    program = operation.program
    arguments = operation.arguments
  }

  public var description: String {
    "\(CommandText(program, arguments)) has ended, but its exit status is lost. This process must "
      + "neither ignore SIGCHLD nor wait for children that it does not know: look for "
      + "signal(SIGCHLD, SIG_IGN) and wait()."
  }
}
