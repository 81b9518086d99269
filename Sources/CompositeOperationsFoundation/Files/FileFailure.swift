internal import CompositeOperations

/// Names what a failure of the system is about.
struct FileFailure: Sendable {
  private let action: FileOperationError.Action

  init(_ action: FileOperationError.Action) { self.action = action }

  func error(_ path: String, _ reason: FileOperationError.Reason) -> FileOperationError {
    FileOperationError(action: action, path: path, reason: reason)
  }

  /// Does something with a file.
  ///
  /// - Throws: A ``FileOperationError`` for what the system says, and else what the body throws.
  func at<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as SystemError {
      throw self.error(path, .system(code: error.code))
    }
  }
}
