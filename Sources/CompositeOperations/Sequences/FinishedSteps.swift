/// The steps of a sequence that have ended, in order.
///
/// A failed step keeps its place. Where the history of a sequence is limited, these are the last of
/// its steps; ``FinishedStep/index`` tells their true places.
public struct FinishedSteps: RandomAccessCollection, Sendable {
  @usableFromInline var records: [StepRecord] = []
  /// How many steps there have been, kept or not.
  @usableFromInline var end = 0
  /// What is to be done with results that nobody will see, by the index of the step.
  @usableFromInline var disposals: [Int: Disposal] = [:]
  @usableFromInline let limit: Int
  /// The records of a finished sequence, in place of ``records``.
  private var boxedRecords: StackSafe<[StepRecord]>?

  init(limit: Int) { self.limit = limit }

  // Inlined so that the record is moved, not counted.
  @inlinable @inline(__always) mutating func append(_ step: consuming FinishedStep?) {
    guard limit > 0, let step else { return }
    // What the history lets go of belongs to the sequence, which has seen it.
    if !disposals.isEmpty { disposals[step.index - limit] = nil }
    // Seldom and many at once, so that a step costs the same whatever the limit is.
    if records.count / 2 >= limit { records.removeFirst(records.count - limit + 1) }
    end = step.index + 1
    records.append(step.record)
  }

  @usableFromInline mutating func hold(_ disposal: @escaping Disposal, for index: Int) {
    if limit == 0 { return }
    disposals[index] = disposal
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { Swift.min(allRecords.count, limit) }
  public subscript(position: Int) -> FinishedStep {
    let records = allRecords
    let count = Swift.min(records.count, limit)
    return FinishedStep(
      records[position + records.count - count], at: end - count + position)
  }

  private var allRecords: [StepRecord] { boxedRecords?.value ?? records }

  /// The same steps as the result of a composite. A box, because results of this type nest to any depth.
  var boxed: FinishedSteps {
    var steps = self
    steps.boxedRecords = StackSafe(records)
    steps.records = []
    return steps
  }

  /// The result of the last step that was an operation of this type and ended in a result.
  public func last<Step: ComposableOperation>(of type: Step.Type) -> Step.Success? {
    for step in reversed() {
      if let result = step.result(of: type) { return result }
    }
    return nil
  }

  /// Every error that a step ended in, in order.
  public var errors: [any Error] { compactMap(\.error) }

  /// Gives up the values that the steps' errors carry as evidence.
  func discardValuesOfErrors() {
    for error in errors { error.discardCarriedValues() }
  }

  /// What is to be done with the results if nobody will see them.
  var disposal: Disposal? {
    CompositeOperations.disposal(ofAll: disposals, and: errors)
  }

  /// Discards the results, which reach no outcome.
  func discardResults() { disposals.disposeInOrder() }

  /// What is to be done with the result of the last step if nobody will see it.
  var lastDisposal: Disposal? { last.flatMap { disposals[$0.index] } }
}

extension FinishedSteps: CustomStringConvertible {
  public var description: String { description(levels: 64) }

  /// The description, with at most `levels` levels of steps inside results of steps.
  func description(levels: Int) -> String {
    if levels == 0 { return "[…]" }
    return "[" + map { $0.description(levels: levels) }.joined(separator: ", ") + "]"
  }
}
