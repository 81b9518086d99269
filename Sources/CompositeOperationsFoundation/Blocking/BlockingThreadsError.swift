internal import CompositeOperations

/// The error of a function that blocks, when the system made no thread for it and there was no other.
public struct BlockingThreadsError: Error, CustomStringConvertible {
  /// What the threads are called.
  public let name: String
  /// What the system says, one of `errno`.
  public let code: Int32

  public var description: String {
    "Cannot create a thread for blocking functions (\(name)): \(SystemError(code: code)). "
      + "Use fewer threads, or raise the limit of the system."
  }
}
