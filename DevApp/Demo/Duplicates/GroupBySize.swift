import CompositeOperations

/// An operation that groups files by size, because only files of equal size can be equal. Hard
/// links to a file count as one file.
struct GroupBySize: ComposableOperation {
  let files: [FileEntry]
  let includesEmpty: Bool

  func perform(in context: OperationContext) -> [CandidateGroup] {
    var bySize: [Int: [Int]] = [:]
    for (index, file) in files.enumerated() where includesEmpty || file.version.size > 0 {
      bySize[file.version.size, default: []].append(index)
    }
    return bySize.values.compactMap { indices in
      if indices.count < 2 { return nil }
      var seen: Set<FileStatus.Identity> = []
      let distinct = indices.map { files[$0] }.filter { seen.insert($0.version.identity).inserted }
      return distinct.count < 2 ? nil : CandidateGroup(files: distinct)
    }
  }
}

/// Two or more files of equal size, which may be equal.
struct CandidateGroup: Sendable, Codable {
  let files: [FileEntry]

  /// The size of each file in bytes.
  var size: Int { files[0].version.size }
}
