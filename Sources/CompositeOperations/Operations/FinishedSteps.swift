/// The finished steps of a sequence, in order.
///
/// A failed step keeps its place. If the history of the sequence is limited, these are its last
/// steps; ``FinishedStep/index`` is the index of a step in the whole sequence.
public struct FinishedSteps: RandomAccessCollection, Sendable {
  @usableFromInline var records: [StepRecord] = []
  /// The number of finished steps, kept or not.
  @usableFromInline var end = 0
  /// Closures that discard the values of steps, by the index of the step: those that no code of the
  /// user has received. They need not be in the history.
  @usableFromInline var cleanups: [Int: Cleanup] = [:]
  @usableFromInline let limit: Int
  /// The records of a finished sequence, in place of ``records``.
  private var boxedRecords: StackSafe<[StepRecord]>?

  init(limit: Int) { self.limit = limit }

  /// Creates an empty history.
  package init(keeping history: StepHistory) { self.init(limit: history.limit) }

  /// Adds the next step.
  package mutating func add(_ step: FinishedStep) { append(step) }

  // Inlined so that the record is moved, not retained.
  @inlinable @inline(__always) mutating func append(_ step: consuming FinishedStep?) {
    guard limit > 0, let step else { return }
    // Removed rarely and in bulk, so that the cost of a step does not depend on the limit.
    if records.count / 2 >= limit { records.removeFirst(records.count - limit + 1) }
    end = step.index + 1
    records.append(step.record)
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

  /// The same steps as the result of a composite. Boxed, because results of this type nest to any
  /// depth.
  var boxed: FinishedSteps {
    var steps = self
    steps.boxedRecords = StackSafe(records)
    steps.records = []
    return steps
  }

  /// Returns the result of the last step with an operation of this type that ended in a result.
  ///
  /// - Parameter type: The type of the operation.
  /// - Returns: Nil if there is no such step.
  public func last<Step: ComposableOperation>(of type: Step.Type) -> Step.Success? {
    for step in reversed() {
      if let result = step.result(of: type) { return result }
    }
    return nil
  }

  /// The errors of the steps that failed, in order.
  public var errors: [any Error] { compactMap(\.error) }
}

extension FinishedSteps: CustomStringConvertible {
  public var description: String { description(levels: 64) }

  /// The description, with at most `levels` levels of steps inside results of steps.
  func description(levels: Int) -> String {
    if levels == 0 { return "[…]" }
    return "[" + map { $0.description(levels: levels) }.joined(separator: ", ") + "]"
  }
}
