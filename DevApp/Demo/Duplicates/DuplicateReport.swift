import CommandLineOperations

/// The result of a search for duplicates.
struct DuplicateReport: Sendable, Codable {
  struct Group: Sendable, Codable {
    /// The size of each file in bytes.
    let size: Int
    let files: [RawPath]

    /// The number of bytes that keeping only one copy would save.
    var surplus: Int { size * (files.count - 1) }
  }

  private(set) var groups: [Group] = []
  private(set) var unreadable: [Unreadable] = []
  /// Files that were written or removed during the search.
  private(set) var changed: [RawPath] = []
  private(set) var scannedFiles = 0
  private(set) var scannedBytes = 0

  struct Unreadable: Sendable, Codable {
    let path: RawPath
    let error: SystemError
  }

  mutating func add(_ tree: FileTree) {
    scannedFiles = tree.files.count
    scannedBytes = tree.files.reduce(0) { $0 + $1.version.size }
    add(tree.problems)
  }

  mutating func add(_ comparison: Comparison) {
    groups += comparison.groups.map { files in
      Group(size: files[0].version.size, files: files.map(\.path))
    }
    add(comparison.problems)
  }

  mutating func add(_ problems: [Problem]) {
    for problem in problems {
      switch problem.reason {
      case .unreadable(let error): unreadable.append(Unreadable(path: problem.path, error: error))
      case .changed: changed.append(problem.path)
      }
    }
  }

  /// Returns the report in an order that does not depend on timing: the largest surplus comes
  /// first.
  func sorted() -> DuplicateReport {
    var report = self
    report.groups = groups.map { Group(size: $0.size, files: $0.files.sorted()) }
      .sorted { ($1.surplus, $0.files[0]) < ($0.surplus, $1.files[0]) }
    report.unreadable.sort { $0.path < $1.path }
    report.changed.sort()
    return report
  }
}
