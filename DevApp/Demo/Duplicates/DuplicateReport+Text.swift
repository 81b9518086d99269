extension DuplicateReport {
  /// The groups as text: one line per file, and an empty line between groups.
  var text: String {
    groups.map { group in
      "\(group.files.count) files of \(group.size.counted("byte")):\n"
        + group.files.map { "  \($0)\n" }.joined()
    }.joined(separator: "\n")
  }

  /// The files and folders that could not be compared, one line each.
  var problemLines: [String] {
    unreadable.map { "unreadable: \($0.path): \($0.error)" }
      + changed.map { "changed during the search: \($0)" }
  }

  /// Returns the totals as a sentence.
  func summary(after duration: Duration) -> String {
    let surplus = groups.reduce(0) { $0 + $1.surplus }
    let copies = groups.reduce(0) { $0 + $1.files.count - 1 }
    let seconds = duration / .seconds(1)
    let found =
      groups.isEmpty
      ? "No duplicates"
      : "\(groups.count.counted("group")), \(copies.counted("surplus file")) of \(surplus.asBytes)"
    return "\(found) in \(scannedFiles.counted("file")) of \(scannedBytes.asBytes), "
      + "\((seconds * 100).rounded() / 100) s"
  }
}
