import CommandLineOperations

/// A file or folder that could not be compared. It does not end the run.
struct Problem: Error, Sendable, Codable {
  enum Reason: Sendable, Codable {
    case unreadable(SystemError)
    /// Written or removed during the search.
    case changed
  }

  let path: RawPath
  let reason: Reason

  init(path: RawPath, reason: Reason) {
    self.path = path
    self.reason = reason
  }

  /// Creates the problem for a failed system call on a file that existed before.
  init(_ path: RawPath, _ error: SystemError) {
    self.init(path: path, reason: error.isMissing ? .changed : .unreadable(error))
  }
}
