import CompositeOperations

/// Finds the files in folders and in the folders below them, level by level.
///
/// All folders of a level are listed in parallel; what they hold decides the next step.
struct ScanTree: OperationSequence {
  private var tree = FileTree()
  private var folders: [RawPath] = []
  private var seen: Set<FileStatus.Identity> = []

  init(_ roots: Roots) {
    tree.files = roots.files
    folders = roots.folders
  }

  var history: StepHistory { .none }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let listings = previous?.result(of: ParallelOperation<[FolderListing]>.self) {
      folders = []
      for listing in listings { add(listing) }
    }
    if folders.isEmpty { return nil }
    return ParallelOperation(folders.map { ListFolder(path: $0) }).named("list folders")
  }

  func output(of steps: FinishedSteps) -> FileTree { tree }

  private mutating func add(_ listing: FolderListing) {
    switch listing {
    case .entries(let entries):
      // The same folder by another way: a path that was given twice, or a mount.
      guard seen.insert(entries.identity).inserted else { return }
      tree.files += entries.files
      tree.problems += entries.problems
      folders += entries.folders
    case .problem(let problem):
      tree.problems.append(problem)
    }
  }
}

/// The files that were found, and what could not be looked at.
struct FileTree: Sendable {
  var files: [FileEntry] = []
  var problems: [Problem] = []
}
