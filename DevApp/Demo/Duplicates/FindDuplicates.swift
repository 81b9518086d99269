import CommandLineOperations
import CompositeOperations
import DurableOperations

/// A sequence that finds equal files. The result of each step decides the next one.
///
/// Check the paths → scan the tree → group by size → read first blocks → compare whole files. The
/// sequence ends early if nothing is left to compare.
///
/// With a journal, the parts of the long steps are stored by their position, so each step lists its
/// parts in an order that only depends on the steps before.
struct FindDuplicates: DurableSequence {
  private let paths: [RawPath]
  private let includesEmpty: Bool
  /// Half as many as a process may usually open.
  private let openFiles = Permits(512, name: "open files")
  private var report = DuplicateReport()
  /// Groups that skip the step of first blocks.
  private var small: [CandidateGroup] = []

  // Without the permits, which belong to the process.
  private enum CodingKeys: CodingKey { case paths, includesEmpty, report, small }

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
    return ParallelOperation(
      batches.enumerated().map { index, files in
        ReadFirstBlocks(files: files).journaled(as: index)
      }
    ).named("read first blocks")
  }

  private mutating func compare(_ blocks: [FirstBlocks]) -> any ComposableOperation {
    var places: [FirstBlocks.Key: Int] = [:]
    var byBlock: [[FileEntry]] = []
    for part in blocks {
      report.add(part.problems)
      for entry in part.files {
        if let place = places[entry.key] {
          byBlock[place].append(entry.file)
        } else {
          places[entry.key] = byBlock.count
          byBlock.append([entry.file])
        }
      }
    }
    let groups = small + byBlock.filter { $0.count > 1 }.map { CandidateGroup(files: $0) }
    small = []
    let size = groups.count / Self.batchCount + 1
    if size == 1 {
      let parts = groups.enumerated().map { index, group in
        compare(group).journaled(as: index).weighing(group.weight)
      }
      return ParallelOperation(parts).named("compare")
    }
    let batches = stride(from: 0, to: groups.count, by: size).map { start in
      Array(groups[start..<min(start + size, groups.count)])
    }
    return ParallelOperation(
      batches.enumerated().map { index, batch in
        ParallelOperation(batch.map { compare($0).weighing($0.weight) }).named("batch")
          .map { Comparison($0) }.journaled(as: index)
          .weighing(batch.reduce(0) { $0 + $1.weight })
      }
    ).named("compare")
  }

  /// The number of batches of many groups. A journal stores the result of each batch.
  private static let batchCount = 1_024

  private func compare(_ group: CandidateGroup) -> some ComposableOperation<Comparison> {
    CompareFiles(group: group)
      .limited(by: openFiles, taking: CompareFiles.openFileCount(of: group))
  }
}

extension CandidateGroup {
  fileprivate var weight: Double { Double(max(1, size * files.count)) }
}
