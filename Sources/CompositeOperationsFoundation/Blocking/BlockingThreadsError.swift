internal import CompositeOperations
internal import SystemSupport

/// The error of a blocking function for which there was no thread and the system did not create
/// one.
public struct BlockingThreadsError: Error, CustomStringConvertible {
  /// The name of the threads.
  public let name: String
  /// The `errno` of the system.
  public let code: Int32

  /// The name of the threads, the problem, and what to do.
  public var description: String {
    "Cannot create a thread for blocking functions (\(name)): \(SystemError(code: code)). "
      + "Use fewer threads, or raise the limit of the system."
  }
}
