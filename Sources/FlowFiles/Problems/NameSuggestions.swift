/// Finds the known name that a writer probably meant.
struct NameSuggestions {
  /// The number of characters that may still be compared. It limits the time that a hostile file
  /// takes.
  private var comparisons = 10_000_000

  /// Returns the most similar of some names, the first one of several; nil if none is similar.
  ///
  /// Names are similar if at most a third of the characters, and at most three, must be inserted,
  /// removed, replaced or exchanged with their neighbor. Letter case counts as equal.
  mutating func nearest(_ name: String, _ names: some Sequence<String>) -> String? {
    let unknown = Array(name.lowercased().unicodeScalars)
    guard !unknown.isEmpty, unknown.count <= FlowLimits.nameCharacters else { return nil }
    var best: String?
    var limit = min(3, unknown.count / 3)
    for other in names {
      if comparisons <= 0 { return nil }
      comparisons -= 100
      guard abs(other.utf8.count - name.utf8.count) <= 4 * limit + 4 else { continue }
      let known = Array(other.lowercased().unicodeScalars)
      guard abs(known.count - unknown.count) <= limit else { continue }
      comparisons -= unknown.count * known.count
      let distance = Self.distance(unknown, known)
      if distance > limit || best != nil && distance == limit { continue }
      best = other
      limit = distance
      if distance == 0 { break }
    }
    return best
  }

  /// The number of insertions, removals, replacements and exchanges of neighbors between two texts
  /// (optimal string alignment).
  private static func distance(_ one: [UnicodeScalar], _ other: [UnicodeScalar]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...other.count)
    for row in one.indices {
      var current = [row + 1]
      for column in other.indices {
        let isSame = one[row] == other[column]
        var cost = min(
          last[column + 1] + 1, current[column] + 1, last[column] + (isSame ? 0 : 1))
        if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column] {
          cost = min(cost, beforeLast[column - 1] + 1)
        }
        current.append(cost)
      }
      beforeLast = last
      last = current
    }
    return last[other.count]
  }
}
