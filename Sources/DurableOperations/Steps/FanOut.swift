internal import CompositeOperations

/// The error of a step with more child flows than its store allows. None of those that were counted
/// in advance has begun.
public struct FanOutError: Error, Codable, Hashable, Sendable, CustomStringConvertible {
  public let run: RunID
  public let step: Int
  /// The name of the step.
  public let name: String
  /// The number of child flows, as far as it is known.
  public let count: Int
  /// The largest number of child flows of one step.
  public let limit: Int
  /// The address of the store.
  public let store: String

  public var description: String {
    """
    run \(run), step \(step), \(name): \(count.grouped) child flows exceed the limit of \
    \(limit.grouped) for \(store), because claims slow down with the number of waiting runs; start \
    them in several steps, such as batches of 100 with `batched(by:)`
    """
  }
}

extension StepInProgress {
  /// - Throws: A ``FanOutError`` if an operation has more child flows than the store allows.
  func checkChildren(of operation: some ComposableOperation) throws {
    if let limit = session.backend.mostChildren { try check(operation.childFlowCount, limit) }
  }

  /// Counts a child flow that begins.
  ///
  /// - Throws: A ``FanOutError`` if it is one too many.
  func addChild() throws {
    if let limit = session.backend.mostChildren { try check(nextChild(), limit) }
  }

  private func check(_ count: Int, _ limit: Int) throws {
    if count <= limit { return }
    throw FanOutError(
      run: session.run, step: position, name: name, count: count, limit: limit,
      store: session.backend.location)
  }
}

/// An operation that starts a child flow.
protocol ChildStarting: ComposableOperation {}

extension ComposableOperation {
  /// The number of child flows that run in parallel, as far as it is known in advance.
  fileprivate var childFlowCount: Int {
    if self is any ChildStarting { return 1 }
    if let bearing = self as? any OutlineBearing, case .parallel(let children) = bearing.outline {
      return children.reduce(0) { $0 + $1.childFlowCount }
    }
    return modifiedOperation?.childFlowCount ?? 0
  }
}

extension Int {
  /// The digits in groups of three.
  fileprivate var grouped: String {
    var text = ""
    for (index, digit) in String(self).reversed().enumerated() {
      if index > 0, index % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }
}
