import CommandLineOperations
import CompositeOperations

/// An operation that lists a folder. An unreadable folder is a problem, not an error.
struct ListFolder: ComposableOperation {
  let path: RawPath

  func perform(in context: OperationContext) -> FolderListing {
    do throws(SystemError) {
      let entries = try FolderEntries(of: path)
      context.report(entries.files.count, unit: "files")
      return .entries(entries)
    } catch {
      return .problem(Problem(path, error))
    }
  }
}

enum FolderListing: Sendable, Codable {
  case entries(FolderEntries)
  case problem(Problem)
}
