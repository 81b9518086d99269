/// Padding against false sharing between its neighbors. Processors fetch cache lines in pairs.
struct CacheLine: Sendable {
  private typealias Line = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

  private let lines: (Line, Line) = ((0, 0, 0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0, 0, 0))
}
