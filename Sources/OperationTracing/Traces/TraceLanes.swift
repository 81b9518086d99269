package import CompositeOperations

/// An allocator of rows for runs and waits. Occupants that share a row at one time are nested.
///
/// A run takes the row of its parent if no sibling occupies it, and otherwise the first free row.
/// The same applies to a wait. An occupant that outlives its parent moves to another row.
///
/// Events of several threads may arrive out of order. So a row is free only for an occupant that
/// begins after the previous one left.
package struct TraceLanes: Sendable {
  package enum Occupant: Hashable, Sendable {
    case run(OperationID)
    /// A wait of a run, by its index among the waits of the run.
    case wait(OperationID, Int)

    package var id: OperationID {
      switch self {
      case .run(let id), .wait(let id, _): id
      }
    }
  }

  /// The result of leaving a row.
  package struct Departure: Sendable {
    /// When the occupant left; later than requested if a nested occupant left later.
    package let time: Duration
    /// The nested occupants that have not left.
    package var moved: [Occupant] = []
    /// The new row of these occupants.
    package var lane = 0
  }

  private struct Stay: Sendable {
    let occupant: Occupant
    let since: Duration
  }

  private struct Row: Sendable {
    /// The occupants, the outermost first.
    var stays: [Stay] = []
    /// When the last occupant left.
    var leftAt: Duration = .zero
  }

  private var rows: [Row] = []
  /// A bitmap of the free rows.
  private var free: [UInt64] = []

  package init() {}

  package mutating func place(
    _ occupant: Occupant, at time: Duration, below parent: (id: OperationID, lane: Int)?
  ) -> Int {
    let stay = Stay(occupant: occupant, since: time)
    if let parent, let last = rows[parent.lane].stays.last, last.occupant.id == parent.id,
      rows[parent.lane].leftAt <= time
    {
      rows[parent.lane].stays.append(stay)
      return parent.lane
    }
    return place([stay], at: time)
  }

  package mutating func leave(_ occupant: Occupant, lane: Int, at time: Duration) -> Departure {
    guard let index = rows[lane].stays.lastIndex(where: { $0.occupant == occupant }) else {
      return Departure(time: time)
    }
    let below = Array(rows[lane].stays[(index + 1)...])
    rows[lane].stays.removeSubrange(index...)
    rows[lane].leftAt = max(rows[lane].leftAt, time)
    var departure = Departure(time: rows[lane].leftAt)
    if rows[lane].stays.isEmpty { free[lane / 64] |= 1 << UInt64(lane % 64) }
    if let first = below.first {
      departure.moved = below.map(\.occupant)
      departure.lane = place(below, at: first.since)
    }
    return departure
  }

  private mutating func place(_ stays: [Stay], at time: Duration) -> Int {
    let lane = takeFree(at: time) ?? addRow()
    rows[lane].stays = stays
    return lane
  }

  private mutating func takeFree(at time: Duration) -> Int? {
    for word in free.indices {
      var bits = free[word]
      while bits != 0 {
        let bit = bits.trailingZeroBitCount
        bits &= bits - 1
        let lane = word * 64 + bit
        guard rows[lane].leftAt <= time else { continue }
        free[word] &= ~(1 << UInt64(bit))
        return lane
      }
    }
    return nil
  }

  private mutating func addRow() -> Int {
    rows.append(Row())
    if free.count * 64 < rows.count { free.append(0) }
    return rows.count - 1
  }
}
