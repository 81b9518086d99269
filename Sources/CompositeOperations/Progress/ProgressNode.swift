/// How far one run is, from what its body tells and what its children come to.
struct ProgressNode: Sendable {
  /// What a body counts.
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

  /// What a parent has taken over of a child so far.
  struct Contribution: Sendable {
    fileprivate var fraction = 0.0
    fileprivate var completed = 0
  }

  private let share: ProgressShare
  /// What its body told.
  private var own: Units?
  /// What its children told, in the unit of the first of them that told anything.
  private var ofChildren: Units?
  private var expected: OperationEvent.ExpectedChildren?
  private var begunCount = 0
  private var begunWeight = 0.0
  /// Of its children, each as far as it is.
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

  /// How a run has ended, as far as it matters for the progress.
  enum End { case result, error, cancelled }

  mutating func ended(in end: End) {
    // Where it failed or was cancelled it stays where it was.
    if end == .result { reach(1) }
  }

  /// Takes over what a child has come to since the last time.
  ///
  /// - Parameters:
  ///   - contribution: The part of the parent's progress that comes from the child so far.
  ///   - end: How the child has ended; nil if it continues.
  /// - Returns: Whether the progress has changed.
  mutating func takeOver(
    _ child: Report, _ contribution: inout Contribution, end: End?
  ) -> Bool {
    let before = fraction
    if end != nil { endedCount += 1 }
    let hasMoreUnits = takeOverUnits(child, &contribution) && own == nil
    // Of a child that failed nothing is left to do; one that was cancelled may have been so for another attempt.
    let reached = end == .error ? 1 : child.fraction ?? 0
    if !share.isThatOfChild {
      doneWeight += (reached - contribution.fraction) * child.weight
      contribution.fraction = reached
      reachWithChildren()
    } else if end == nil, own == nil, child.fraction != nil {
      // The end of a child is not that of the run: an attempt may have failed.
      reach(reached)
    }
    return hasMoreUnits || fraction != before
  }

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

  /// The smallest change of a fraction, about 10⁻¹⁵. Smaller changes accumulate until they reach it.
  ///
  /// A change is passed up as long as it changes the parent. If every level halves it, a `Double` shows it a
  /// thousand levels up; with this limit it is fifty.
  private static let smallestStep = 0x1p-50

  /// Never goes back.
  private mutating func reach(_ fraction: Double) {
    let fraction = max(0, min(fraction, 1))
    let next = self.fraction.map { $0 + Self.smallestStep } ?? 0
    if fraction >= next || fraction == 1 { self.fraction = fraction }
  }
}
