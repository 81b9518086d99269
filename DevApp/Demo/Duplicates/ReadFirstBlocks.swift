import CompositeOperations

/// An operation that reads the first block of each file, so that files that differ there are not
/// compared.
struct ReadFirstBlocks: ComposableOperation {
  /// The size of a first block in bytes. Smaller files are read only once, when they are compared.
  static let blockSize = 4_096

  /// The number of files per operation.
  static let batchSize = 64

  let files: [FileEntry]

  func perform(in context: OperationContext) throws -> FirstBlocks {
    var result = FirstBlocks()
    for (index, file) in files.enumerated() {
      try Task.checkCancellation()
      do throws(Problem) {
        let count = min(Self.blockSize, file.version.size)
        let block = try file.read(count, at: 0, from: try file.open())
        let key = FirstBlocks.Key(size: file.version.size, hash: block.hash64)
        result.files.append(FirstBlocks.Entry(key: key, file: file))
      } catch {
        result.problems.append(error)
      }
      context.report(index + 1, of: files.count, unit: "files")
    }
    return result
  }
}

/// Files by their size and a hash of their first block. Equal hashes are only a hint.
struct FirstBlocks: Sendable, Codable {
  struct Key: Hashable, Sendable, Codable {
    let size: Int
    let hash: UInt64
  }

  struct Entry: Sendable, Codable {
    let key: Key
    let file: FileEntry
  }

  var files: [Entry] = []
  var problems: [Problem] = []
}
