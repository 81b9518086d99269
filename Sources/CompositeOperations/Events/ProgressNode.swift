/// The progress of one run, computed from the reports of its body and the progress of its children.
struct ProgressNode: Sendable {
  /// The units that a body reports.
  struct Units: Sendable {
    var completed: Int
    var total: Int?
    var unit: String?
  }

  /// The progress of a child, for its parent.
  struct Report: Sendable {
    fileprivate let fraction: Double?
    fileprivate let units: Units?
    fileprivate let weight: Double
  }

  /// The part of a parent's progress that comes from one child.
  struct Contribution: Sendable {
    fileprivate var fraction = 0.0
    fileprivate var completed = 0
  }

  private let share: ProgressShare
  /// The units that the body reported.
  private var own: Units?
  /// The units that children reported, in the unit of the first child that reported any.
  private var ofChildren: Units?
  private var expected: OperationEvent.ExpectedChildren?
  private var begunCount = 0
  private var begunWeight = 0.0
  /// The sum of each child's weight times its fraction.
  private var doneWeight = 0.0

  private(set) var fraction: Double?
  private(set) var endedCount = 0

  init(share: ProgressShare) { self.share = share }

  private var units: Units? { own ?? ofChildren }

  var progress: OperationProgress {
    OperationProgress(
      fraction: fraction, completed: units?.completed ?? 0, total: units?.total, unit: units?.unit)
  }

  var report: Report { Report(fraction: fraction, units: units, weight: Double(share.weight)) }

  mutating func told(_ units: Units) {
    var units = units
    let isSame = own.map { $0.unit == units.unit && $0.total == units.total } ?? false
    units.completed = max(isSame ? own?.completed ?? 0 : 0, units.completed)
    own = units
    if let total = units.total, total > 0 { reach(Double(units.completed) / Double(total)) }
  }

  mutating func expects(_ children: OperationEvent.ExpectedChildren) {
    expected = children
    reachWithChildren()
  }

  mutating func childBegan(_ child: Report) {
    begunCount += 1
    begunWeight += child.weight
    reachWithChildren()
  }

  /// The kinds of outcome that progress distinguishes.
  enum End { case result, error, cancelled }

  mutating func ended(in end: End) {
    // A run that failed or was cancelled keeps its last fraction.
    if end == .result { reach(1) }
  }

  /// Adds the progress that a child has made since the last call.
  ///
  /// - Parameters:
  ///   - contribution: The part of the parent's progress that already comes from the child.
  ///   - end: The outcome of the child; nil if it has not ended.
  /// - Returns: Whether the progress has changed.
  mutating func takeOver(
    _ child: Report, _ contribution: inout Contribution, end: End?
  ) -> Bool {
    let before = fraction
    if end != nil { endedCount += 1 }
    let hasMoreUnits = takeOverUnits(child, &contribution) && own == nil
    // A failed child has nothing left to do. A cancelled one may be tried again.
    let reached = end == .error ? 1 : child.fraction ?? 0
    if !share.isThatOfChild {
      doneWeight += (reached - contribution.fraction) * child.weight
      contribution.fraction = reached
      reachWithChildren()
    } else if end == nil, own == nil, child.fraction != nil {
      // Not at the end of the child: it may be a failed attempt, and the run then continues.
      reach(reached)
    }
    return hasMoreUnits || fraction != before
  }

  /// Adds the units that a child has completed since the last call.
  ///
  /// - Returns: Whether anything has changed.
  private mutating func takeOverUnits(
    _ child: Report, _ contribution: inout Contribution
  ) -> Bool {
    guard let units = child.units else { return false }
    let before = ofChildren
    var sum = before ?? Units(completed: 0, unit: units.unit)
    guard sum.unit == units.unit else { return false }
    if share.isThatOfChild {
      sum.completed = max(sum.total == units.total ? sum.completed : 0, units.completed)
      sum.total = units.total
    } else {
      let more = max(0, units.completed - contribution.completed)
      sum.completed = more > .max - sum.completed ? .max : sum.completed + more
      contribution.completed = max(contribution.completed, units.completed)
    }
    ofChildren = sum
    return before == nil || before?.completed != sum.completed || before?.total != sum.total
  }

  private mutating func reachWithChildren() {
    guard own?.total == nil, let expected else { return }
    let rest =
      switch expected {
      case .count(let count): Double(count) - Double(begunCount)
      case .weight(let weight): weight - begunWeight
      }
    reach(doneWeight / max(begunWeight + max(0, rest), .leastNonzeroMagnitude))
  }

  /// The smallest change of a fraction, about 10⁻¹⁵. Smaller changes accumulate until they reach
  /// it.
  ///
  /// A change propagates upwards as long as it changes the parent. If every level halves it, a
  /// `Double` propagates it a thousand levels up; this limit reduces that to fifty.
  private static let smallestStep = 0x1p-50

  /// Sets the fraction, unless it would decrease.
  private mutating func reach(_ fraction: Double) {
    let fraction = max(0, min(fraction, 1))
    let next = self.fraction.map { $0 + Self.smallestStep } ?? 0
    if fraction >= next || fraction == 1 { self.fraction = fraction }
  }
}
