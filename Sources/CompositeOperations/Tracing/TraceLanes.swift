/// Gives every run a row, so that those of one row at one moment stand one below another.
///
/// A run stands on its parent's row if nobody else stands there below the parent, and else on the first
/// row that is free.
struct TraceLanes: Sendable {
  /// The runs of every row, the outermost first.
  private var rows: [[OperationID]] = []
  /// A bit for every row that is free.
  private var free: [UInt64] = []

  mutating func place(_ id: OperationID, below parent: (id: OperationID, lane: Int)?) -> Int {
    if let parent, rows[parent.lane].last == parent.id {
      rows[parent.lane].append(id)
      return parent.lane
    }
    let lane = takeFree() ?? addRow()
    rows[lane].append(id)
    return lane
  }

  mutating func leave(_ id: OperationID, lane: Int) {
    if let index = rows[lane].lastIndex(of: id) { rows[lane].remove(at: index) }
    if rows[lane].isEmpty { free[lane / 64] |= 1 << UInt64(lane % 64) }
  }

  private mutating func takeFree() -> Int? {
    guard let word = free.firstIndex(where: { $0 != 0 }) else { return nil }
    let bit = free[word].trailingZeroBitCount
    free[word] &= ~(1 << UInt64(bit))
    return word * 64 + bit
  }

  private mutating func addRow() -> Int {
    rows.append([])
    if free.count * 64 < rows.count { free.append(0) }
    return rows.count - 1
  }
}
