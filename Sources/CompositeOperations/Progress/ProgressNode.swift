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
  private var expectedWeight: Double?
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
    let before = own.flatMap { $0.unit == units.unit ? $0.completed : nil }
    units.completed = max(before ?? 0, units.completed)
    own = units
    if let total = units.total, total > 0 { reach(Double(units.completed) / Double(total)) }
  }

  mutating func expects(_ weight: Double) {
    expectedWeight = weight
    reachWithChildren()
  }

  mutating func childBegan(_ child: ProgressNode) {
    begunWeight += Double(child.share.weight)
    reachWithChildren()
  }

  mutating func ended() { reach(1) }

  /// Takes over what a child has come to since the last time.
  ///
  /// - Returns: Whether anything has changed.
  mutating func takeOver(_ child: inout ProgressNode, hasEnded: Bool) -> Bool {
    let before = progress
    if hasEnded { endedCount += 1 }
    takeOverUnits(&child)
    let fraction = child.fraction ?? 0
    if !share.isThatOfChild {
      doneWeight += (fraction - child.contribution.fraction) * Double(child.share.weight)
      child.contribution.fraction = fraction
      reachWithChildren()
    } else if !hasEnded, own == nil, child.fraction != nil {
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
      sum.completed = max(sum.completed, units.completed)
      sum.total = units.total
    } else {
      sum.completed += max(0, units.completed - child.contribution.completed)
      child.contribution.completed = max(child.contribution.completed, units.completed)
    }
    ofChildren = sum
  }

  private mutating func reachWithChildren() {
    guard own?.total == nil, let expectedWeight else { return }
    reach(doneWeight / max(expectedWeight, begunWeight, .leastNonzeroMagnitude))
  }

  /// Never goes back.
  private mutating func reach(_ fraction: Double) {
    self.fraction = max(self.fraction ?? 0, min(fraction, 1))
  }
}
