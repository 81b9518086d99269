import CommandLineOperations
import CompositeOperations
import DurableOperations

/// A sequence that finds the files in folders and their subfolders, level by level.
///
/// It lists all folders of a level in parallel; their contents decide the next step. With a journal,
/// each level is stored.
struct ScanTree: OperationSequence {
  private var tree = FileTree()
  private var folders: [RawPath] = []
  private var seen: Set<FileStatus.Identity> = []
  private var level = -1

  init(_ roots: Roots) {
    tree.files = roots.files
    folders = roots.folders
  }

  var history: StepHistory { .none }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let previous {
      // A step fails only if its journal cannot store it.
      guard let listings = previous.result(of: ParallelOperation<[FolderListing]>.self) else {
        return nil
      }
      folders = []
      for listing in listings { add(listing) }
    }
    if folders.isEmpty { return nil }
    level += 1
    return ParallelOperation(folders.map { ListFolder(path: $0) }).named("list folders")
      .journaled(as: level)
  }

  func output(of steps: FinishedSteps) -> FileTree { tree }

  private mutating func add(_ listing: FolderListing) {
    switch listing {
    case .entries(let entries):
      // A folder can be reached twice, by a repeated path or a mount.
      guard seen.insert(entries.identity).inserted else { return }
      tree.files += entries.files
      tree.problems += entries.problems
      folders += entries.folders
    case .problem(let problem):
      tree.problems.append(problem)
    }
  }
}

/// The files found, and the files and folders that could not be examined.
struct FileTree: Sendable, Codable {
  var files: [FileEntry] = []
  var problems: [Problem] = []
}
