/// The critical path of a trace, as ``OperationTrace/Summary/criticalPath`` defines it.
struct CriticalPath {
  /// A part of the time of a run.
  struct Piece: Equatable {
    /// The index of the run in the trace.
    let place: Int
    let time: Range<Int64>
  }

  /// The pieces in chronological order, each directly after the previous one.
  private(set) var pieces: [Piece] = []

  /// A run on the path from the outermost run.
  private struct Level {
    let place: Int
    /// The remaining candidates among the children, sorted by their ends.
    var children: [Int]

    init(_ place: Int, _ tree: TraceTree) {
      self.place = place
      children = tree.children(of: place).sorted { (tree.ended[$0], $0) < (tree.ended[$1], $1) }
    }
  }

  /// - Complexity: O(*n* log *n*), because the children of each run on the path are sorted once.
  init(_ tree: TraceTree) {
    var last: Int?
    for (place, parent) in tree.parents.enumerated() where parent == nil {
      if last.map({ tree.ended[$0] <= tree.ended[place] }) ?? true { last = place }
    }
    guard let last else { return }
    // An explicit stack, because flows can be deeper than the stack of a thread.
    var levels = [Level(last, tree)]
    var now = tree.ended[last]
    while var level = levels.popLast() {
      while let child = level.children.last, tree.ended[child] > now { level.children.removeLast() }
      let start = tree.created[level.place]
      if let child = level.children.popLast(), tree.ended[child] > start {
        add(level.place, from: tree.ended[child], to: now)
        now = tree.ended[child]
        levels.append(level)
        levels.append(Level(child, tree))
      } else {
        add(level.place, from: start, to: now)
        now = min(now, start)
      }
    }
    pieces.reverse()
  }

  private mutating func add(_ place: Int, from start: Int64, to end: Int64) {
    if start < end { pieces.append(Piece(place: place, time: start..<end)) }
  }
}
