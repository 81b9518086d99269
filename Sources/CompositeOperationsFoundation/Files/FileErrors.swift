internal import CompositeOperations
internal import Foundation
internal import SystemSupport

/// Converts system errors to errors that name the file.
struct FileErrors: Sendable {
  private let action: FileOperationError.Action

  init(_ action: FileOperationError.Action) { self.action = action }

  func error(source path: String, _ reason: FileOperationError.Reason) -> FileOperationError {
    FileOperationError(action: action, path: path, reason: reason, role: .source)
  }

  func error(destination path: String, _ reason: FileOperationError.Reason) -> FileOperationError {
    FileOperationError(action: action, path: path, reason: reason, role: .destination)
  }

  /// The error of a copy or a move whose destination exists and is not replaced.
  ///
  /// - Parameters:
  ///   - there: The status of the destination.
  ///   - status: The status of the source.
  func error(
    existing destination: String, _ there: FileStatus, source: String, _ status: FileStatus
  ) -> FileOperationError {
    let hasSource: Bool
    if there.identity != status.identity {
      // If the answer is unknown, the error must not advise to remove the destination.
      hasSource =
        there.kind == .folder
        && (try? FileSystem.contains(source, in: there.identity)) ?? true
    } else {
      // A file with two names stays if one of them is removed.
      let haveTwoNames = try? FileSystem.areTwoNames(source, destination)
      hasSource = status.kind == .folder || status.hardLinkCount < 2 || haveTwoNames != true
    }
    return FileOperationError(
      action: action, path: destination, reason: .system(code: SystemError.fileExists.code),
      role: hasSource ? .destinationWithSource : .destination)
  }

  /// Calls a function that uses an existing file.
  ///
  /// - Throws: A ``FileOperationError`` for a system error, and any other error of the function.
  func mapping<Value>(source path: String, _ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as SystemError {
      throw self.error(source: path, .system(code: error.code))
    }
  }

  /// Calls a function that creates a file.
  ///
  /// - Throws: A ``FileOperationError`` for a system error, and any other error of the function.
  func mapping<Value>(destination path: String, _ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as SystemError {
      throw self.error(destination: path, .system(code: error.code))
    }
  }

  /// - Throws: A ``FileOperationError`` if the URL does not name a file on this machine.
  func path(of url: URL) throws -> String {
    guard let path = url.pathOfFile else { throw error(source: url.absoluteString, .notAFileURL) }
    return path
  }
}

extension URL {
  /// The path of the file on this machine; nil if the URL does not name one.
  package var pathOfFile: String? {
    // A zero byte would end the path for the system, which would then use another file.
    let hasZero = path(percentEncoded: true).contains("%00")
    return isFileURL && !path.isEmpty && !hasZero ? path : nil
  }
}
