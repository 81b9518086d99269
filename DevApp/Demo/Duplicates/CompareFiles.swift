import CompositeOperations

/// An operation that compares files of equal size byte by byte, and groups equal files.
///
/// It reads all files block by block in step, each file once. Files that differ in a block continue
/// in separate groups.
struct CompareFiles: ComposableOperation {
  let group: CandidateGroup

  func perform(in context: OperationContext) throws -> Comparison {
    var comparison = Comparison()
    var readers = group.files.map { FileReader($0) }
    let all = group.size * group.files.count
    var done = 0
    var pending = [Part(members: Array(readers.indices), offset: 0)]
    while let part = pending.popLast() {
      try Task.checkCancellation()
      if part.offset == group.size {
        comparison.groups.append(part.members.map { group.files[$0] })
        continue
      }
      let length = min(Self.blockSize(for: part.members.count), group.size - part.offset)
      let isLast = part.offset + length == group.size
      var classes = BlockClasses()
      for member in part.members {
        do {
          let keepsOpen = !isLast && part.members.count <= Self.mostOpen
          let block = try readers[member].read(length, at: part.offset, keepsOpen: keepsOpen)
          classes.add(member, block)
          done += length
          context.report(done, of: all, unit: "bytes")
        } catch {
          comparison.problems.append(error)
        }
      }
      for members in classes.members {
        if members.count > 1 {
          pending.append(Part(members: members, offset: part.offset + length))
        } else {
          for member in members { readers[member].close() }
        }
      }
    }
    return comparison
  }

  /// A subset of the files, which are equal up to an offset.
  private struct Part {
    let members: [Int]
    let offset: Int
  }

  /// The maximum number of files that stay open between blocks. Larger groups reopen their files
  /// for each block.
  private static let mostOpen = 32

  /// Returns the maximum number of files that are open at once while a group is compared.
  static func openFileCount(of group: CandidateGroup) -> Int {
    min(group.files.count, mostOpen)
  }

  /// Returns the block size in bytes. The blocks of all files together take at most 64 MiB, unless
  /// there are more than 16,384 files.
  private static func blockSize(for count: Int) -> Int {
    min(262_144, max(4_096, 67_108_864 / count))
  }
}

/// Groups of equal files, and the files that could not be compared.
struct Comparison: Sendable, Codable {
  var groups: [[FileEntry]] = []
  var problems: [Problem] = []

  init() {}

  /// Joins comparisons.
  init(_ parts: [Comparison]) {
    groups = parts.flatMap(\.groups)
    problems = parts.flatMap(\.problems)
  }
}

/// A reader of a file, block by block.
private struct FileReader {
  private let entry: FileEntry
  private var file: OpenFile?

  init(_ entry: FileEntry) { self.entry = entry }

  mutating func read(_ count: Int, at offset: Int, keepsOpen: Bool) throws(Problem) -> [UInt8] {
    let file = if let open = self.file { open } else { try entry.open() }
    self.file = keepsOpen ? file : nil
    return try entry.read(count, at: offset, from: file)
  }

  mutating func close() { file = nil }
}

/// A partition of files by the contents of one block.
private struct BlockClasses {
  private var blocks: [[UInt8]] = []
  private(set) var members: [[Int]] = []
  /// The classes by a hash of their block; nil while there are too few for hashing to pay off.
  private var byHash: [UInt64: [Int]]?

  private static let few = 8

  mutating func add(_ member: Int, _ block: [UInt8]) {
    let hash = byHash == nil ? 0 : block.hash64
    let candidates = byHash.map { $0[hash, default: []] } ?? Array(blocks.indices)
    for index in candidates where blocks[index].isEqual(to: block) {
      members[index].append(member)
      return
    }
    byHash?[hash, default: []].append(blocks.count)
    blocks.append(block)
    members.append([member])
    if byHash == nil, blocks.count > Self.few {
      byHash = Dictionary(grouping: blocks.indices) { blocks[$0].hash64 }
    }
  }
}
