import CompositeOperations

/// Reads the first block of each of some files, so that files which differ there are not compared.
struct ReadFirstBlocks: ComposableOperation {
  /// In bytes. Smaller files are read once, when they are compared.
  static let blockSize = 4_096

  /// How many files one operation takes.
  static let batchSize = 64

  let files: [FileEntry]
  let progress: ProgressMeter

  func perform(in context: OperationContext) throws -> FirstBlocks {
    var result = FirstBlocks()
    for file in files {
      try Task.checkCancellation()
      do throws(Problem) {
        let count = min(Self.blockSize, file.status.size)
        let block = try file.read(count, at: 0, from: try file.open())
        let key = FirstBlocks.Key(size: file.status.size, hash: block.hash64)
        result.files.append(FirstBlocks.Entry(key: key, file: file))
        progress.add(files: 1, bytes: count)
      } catch {
        result.problems.append(error)
      }
    }
    return result
  }
}

/// Files by their size and a hash of their first block. Equal hashes are a hint, never the answer.
struct FirstBlocks: Sendable {
  struct Key: Hashable, Sendable {
    let size: Int
    let hash: UInt64
  }

  struct Entry: Sendable {
    let key: Key
    let file: FileEntry
  }

  var files: [Entry] = []
  var problems: [Problem] = []
}
