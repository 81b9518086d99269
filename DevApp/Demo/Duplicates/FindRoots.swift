import CommandLineOperations
import CompositeOperations

/// An operation that examines the paths of the arguments. It follows symbolic links.
struct FindRoots: ComposableOperation {
  let paths: [RawPath]

  func perform(in context: OperationContext) throws -> Roots {
    var roots = Roots()
    for path in paths {
      do {
        let status = try FileStatus(following: path)
        switch status.kind {
        case .file: roots.files.append(FileEntry(path: path, version: FileVersion(status)))
        case .folder: roots.folders.append(path)
        case .link, .other: throw RootError(path: path, reason: "neither a file nor a folder")
        }
      } catch let error as SystemError {
        throw RootError(path: path, reason: "\(error)")
      }
    }
    return roots
  }
}

/// The files and folders where the search starts.
struct Roots: Sendable, Codable {
  var files: [FileEntry] = []
  var folders: [RawPath] = []
}

struct RootError: Error, Codable, CustomStringConvertible {
  let path: RawPath
  let reason: String

  var description: String { "\(path): \(reason); expected a file or a folder to search" }
}
