import CommandLineOperations
import CompositeOperations
import SystemSupport

/// An operation that lists a folder. An unreadable folder is a problem, not an error.
struct ListFolder: ComposableOperation {
  let path: RawPath

  func perform(in context: OperationContext) throws -> FolderListing {
    do {
      let entries = try FolderEntries(of: path)
      context.report(entries.files.count, unit: "files")
      return .entries(entries)
    } catch let error as SystemError {
      return .problem(Problem(path, error))
    }
  }
}

enum FolderListing: Sendable, Codable {
  case entries(FolderEntries)
  case problem(Problem)
}
