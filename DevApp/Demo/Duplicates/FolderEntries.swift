import CommandLineOperations

/// The files and folders in a folder, without symbolic links and other kinds of files.
struct FolderEntries: Sendable, Codable {
  /// The identity of the folder, independent of its path.
  let identity: FileStatus.Identity
  private(set) var files: [FileEntry] = []
  private(set) var folders: [RawPath] = []
  private(set) var problems: [Problem] = []

  init(of path: RawPath) throws(SystemError) {
    let folder = try OpenFolder(path)
    identity = try folder.status().identity
    try folder.forEachName { name, kind in add(name, kind, of: path, in: folder) }
  }

  /// - Parameter kind: The kind of the file; nil if it is unknown.
  private mutating func add(
    _ name: [UInt8], _ kind: FileStatus.Kind?, of path: RawPath, in folder: OpenFolder
  ) {
    let child = path.appending(name)
    switch kind {
    case .folder: folders.append(child)
    case .link, .other: break
    case .file, nil:
      do throws(SystemError) {
        let status = try folder.status(of: name)
        switch status.kind {
        case .file: files.append(FileEntry(path: child, version: FileVersion(status)))
        case .folder: folders.append(child)
        case .link, .other: break
        }
      } catch {
        problems.append(Problem(child, error))
      }
    }
  }
}
