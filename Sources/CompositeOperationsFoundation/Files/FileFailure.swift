internal import CompositeOperations
internal import Foundation

/// Names what a failure of the system is about.
struct FileFailure: Sendable {
  private let action: FileOperationError.Action

  init(_ action: FileOperationError.Action) { self.action = action }

  func error(source path: String, _ reason: FileOperationError.Reason) -> FileOperationError {
    FileOperationError(action: action, path: path, reason: reason, isAboutSource: true)
  }

  func error(destination path: String, _ reason: FileOperationError.Reason) -> FileOperationError {
    FileOperationError(action: action, path: path, reason: reason, isAboutSource: false)
  }

  /// Does something with what is to be there already.
  ///
  /// - Throws: A ``FileOperationError`` for what the system says, and else what the body throws.
  func at<Value>(source path: String, _ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as SystemError {
      throw self.error(source: path, .system(code: error.code))
    }
  }

  /// Does something with what is to be made.
  ///
  /// - Throws: A ``FileOperationError`` for what the system says, and else what the body throws.
  func at<Value>(destination path: String, _ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as SystemError {
      throw self.error(destination: path, .system(code: error.code))
    }
  }

  /// - Throws: A ``FileOperationError`` if a URL names no file of this computer.
  func path(of url: URL) throws -> String {
    guard let path = url.pathOfFile else { throw error(source: url.absoluteString, .notAFileURL) }
    return path
  }
}

extension URL {
  /// The path of the file of this computer that it names; nil if it names none.
  var pathOfFile: String? {
    // A zero would end the path for the system, and have it take another file.
    let hasZero = path(percentEncoded: true).contains("%00")
    return isFileURL && !path.isEmpty && !hasZero ? path : nil
  }
}
