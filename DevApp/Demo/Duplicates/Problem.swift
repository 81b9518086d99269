/// A file or folder that could not be compared. It does not end the run.
struct Problem: Error, Sendable {
  enum Reason: Sendable {
    case unreadable(SystemError)
    /// Written or removed while the run went on.
    case changed
  }

  let path: RawPath
  let reason: Reason

  init(path: RawPath, reason: Reason) {
    self.path = path
    self.reason = reason
  }

  /// What a failed system call means for a file that was there a moment ago.
  init(_ path: RawPath, _ error: SystemError) {
    self.init(path: path, reason: error.isMissing ? .changed : .unreadable(error))
  }
}
