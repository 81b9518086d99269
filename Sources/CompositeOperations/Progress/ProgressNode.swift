/// How far one run is, from what its body tells and what its children come to.
struct ProgressNode: Sendable {
  /// What a body counts.
  struct Units: Sendable {
    var completed: Int
    var total: Int?
    var unit: String?
  }

  /// What a parent has taken over of a child so far.
  private struct Contribution: Sendable {
    var fraction = 0.0
    var completed = 0
  }

  let parent: OperationID?
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
  private var contribution = Contribution()

  private(set) var fraction: Double?
  private(set) var endedCount = 0

  init(below parent: OperationID?, share: ProgressShare) {
    self.parent = parent
    self.share = share
  }

  var progress: OperationProgress {
    let units = own ?? ofChildren
    return OperationProgress(
      fraction: fraction, completed: units?.completed ?? 0, total: units?.total, unit: units?.unit)
  }

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

  mutating func childBegan(_ child: ProgressNode) {
    begunCount += 1
    begunWeight += Double(child.share.weight)
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
  /// - Parameter end: How it has ended; nil if it goes on.
  /// - Returns: Whether anything has changed.
  mutating func takeOver(_ child: inout ProgressNode, end: End?) -> Bool {
    let before = progress
    if end != nil { endedCount += 1 }
    takeOverUnits(&child)
    // Of a child that failed nothing is left to do; one that was cancelled may have been so for another attempt.
    let fraction = end == .error ? 1 : child.fraction ?? 0
    if !share.isThatOfChild {
      doneWeight += (fraction - child.contribution.fraction) * Double(child.share.weight)
      child.contribution.fraction = fraction
      reachWithChildren()
    } else if end == nil, own == nil, child.fraction != nil {
      // The end of a child is not that of the run: an attempt may have failed.
      reach(fraction)
    }
    return progress != before
  }

  private mutating func takeOverUnits(_ child: inout ProgressNode) {
    guard let units = child.own ?? child.ofChildren else { return }
    var sum = ofChildren ?? Units(completed: 0, unit: units.unit)
    guard sum.unit == units.unit else { return }
    if share.isThatOfChild {
      sum.completed = max(sum.total == units.total ? sum.completed : 0, units.completed)
      sum.total = units.total
    } else {
      let more = max(0, units.completed - child.contribution.completed)
      sum.completed = more > .max - sum.completed ? .max : sum.completed + more
      child.contribution.completed = max(child.contribution.completed, units.completed)
    }
    ofChildren = sum
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

  /// Never goes back.
  private mutating func reach(_ fraction: Double) {
    self.fraction = max(self.fraction ?? 0, min(fraction, 1))
  }
}
