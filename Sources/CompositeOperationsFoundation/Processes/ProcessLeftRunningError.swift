/// A program that goes on though its run is over, because this process may not signal it.
///
/// That is so of a program that has become another user, as by `sudo`. Where such a run is cancelled, this is what it
/// came to late. The group of the program has got SIGTERM and SIGKILL, as far as that was allowed.
public struct ProcessLeftRunningError: Error, CustomStringConvertible {
  /// The program, as it was given.
  public let program: String
  /// Its arguments.
  public let arguments: [String]
  /// The number by which the system knows the program.
  public let processIdentifier: Int32

  init(_ operation: ProcessOperation, identifier: Int32) {
    program = operation.program
    arguments = operation.arguments
    processIdentifier = identifier
  }

  public var description: String {
    "\(CommandText(program, arguments)) is still running as process \(processIdentifier): "
      + "this process may not signal it. End it by hand, or as the user that it runs as."
  }
}
