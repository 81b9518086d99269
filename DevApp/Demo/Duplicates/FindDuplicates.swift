import CompositeOperations

/// A sequence that finds equal files. The result of each step decides the next one.
///
/// Check the paths → scan the tree → group by size → read first blocks → compare whole files. The
/// sequence ends early if nothing is left to compare.
struct FindDuplicates: OperationSequence {
  private let paths: [RawPath]
  private let includesEmpty: Bool
  /// Half as many as a process may usually open.
  private let openFiles = Permits(512, name: "open files")
  private var report = DuplicateReport()
  /// Groups that skip the step of first blocks.
  private var small: [CandidateGroup] = []

  init(in paths: [RawPath], includesEmpty: Bool) {
    self.paths = paths
    self.includesEmpty = includesEmpty
  }

  var history: StepHistory { .none }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    guard let previous else { return FindRoots(paths: paths) }
    if let roots = previous.result(of: FindRoots.self) {
      return SequentialOperation(ScanTree(roots)).named("scan")
    }
    if let tree = previous.result(of: SequentialOperation<ScanTree>.self) {
      report.add(tree)
      return GroupBySize(files: tree.files, includesEmpty: includesEmpty)
    }
    if let groups = previous.result(of: GroupBySize.self) {
      return groups.isEmpty ? nil : readFirstBlocks(of: groups)
    }
    if let blocks = previous.result(of: ParallelOperation<[FirstBlocks]>.self) {
      return compare(blocks)
    }
    if let comparisons = previous.result(of: ParallelOperation<[Comparison]>.self) {
      for comparison in comparisons { report.add(comparison) }
    }
    return nil
  }

  func output(of steps: FinishedSteps) -> DuplicateReport { report.sorted() }

  private mutating func readFirstBlocks(of groups: [CandidateGroup]) -> any ComposableOperation {
    small = groups.filter { $0.size <= ReadFirstBlocks.blockSize && $0.files.count <= 256 }
    let large = groups.filter { $0.size > ReadFirstBlocks.blockSize || $0.files.count > 256 }
      .flatMap(\.files)
    let batches = stride(from: 0, to: large.count, by: ReadFirstBlocks.batchSize).map { start in
      Array(large[start..<min(start + ReadFirstBlocks.batchSize, large.count)])
    }
    return ParallelOperation(batches.map { ReadFirstBlocks(files: $0) }).named("read first blocks")
  }

  private mutating func compare(_ blocks: [FirstBlocks]) -> any ComposableOperation {
    var byBlock: [FirstBlocks.Key: [FileEntry]] = [:]
    for part in blocks {
      report.add(part.problems)
      for entry in part.files { byBlock[entry.key, default: []].append(entry.file) }
    }
    let groups = small + byBlock.values.filter { $0.count > 1 }.map { CandidateGroup(files: $0) }
    return ParallelOperation(
      groups.map { group in
        CompareFiles(group: group)
          .limited(by: openFiles, taking: CompareFiles.openFileCount(of: group))
          .weighing(Double(max(1, group.size * group.files.count)))
      }
    ).named("compare")
  }
}
