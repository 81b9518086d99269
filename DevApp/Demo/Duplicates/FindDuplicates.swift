import CompositeOperations

/// Finds files that are equal: a stage a step, each decided by what came back from the one before.
///
/// Look at the paths → scan the tree → group by size → read first blocks → compare whole files. Where
/// nothing is left to compare, the sequence ends early.
struct FindDuplicates: OperationSequence {
  private let paths: [RawPath]
  private let includesEmpty: Bool
  private let progress: ProgressMeter
  private var report = DuplicateReport()
  /// Groups that need no look at their first blocks.
  private var small: [CandidateGroup] = []

  init(in paths: [RawPath], includesEmpty: Bool, progress: ProgressMeter) {
    self.paths = paths
    self.includesEmpty = includesEmpty
    self.progress = progress
  }

  var history: StepHistory { .none }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    guard let previous else { return FindRoots(paths: paths) }
    if let roots = previous.result(of: FindRoots.self) {
      progress.begin(.scanning)
      return SequentialOperation(ScanTree(roots, progress: progress))
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
    progress.begin(.readingFirstBlocks, files: large.count)
    let batches = stride(from: 0, to: large.count, by: ReadFirstBlocks.batchSize).map { start in
      Array(large[start..<min(start + ReadFirstBlocks.batchSize, large.count)])
    }
    return ParallelOperation(batches.map { ReadFirstBlocks(files: $0, progress: progress) })
  }

  private mutating func compare(_ blocks: [FirstBlocks]) -> any ComposableOperation {
    var byBlock: [FirstBlocks.Key: [FileEntry]] = [:]
    for part in blocks {
      report.add(part.problems)
      for entry in part.files { byBlock[entry.key, default: []].append(entry.file) }
    }
    let groups = small + byBlock.values.filter { $0.count > 1 }.map { CandidateGroup(files: $0) }
    progress.begin(.comparing, files: groups.reduce(0) { $0 + $1.files.count })
    return ParallelOperation(groups.map { CompareFiles(group: $0, progress: progress) })
  }
}
