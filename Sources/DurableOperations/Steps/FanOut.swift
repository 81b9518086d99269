internal import CompositeOperations

extension StepInProgress {
  /// - Throws: A ``DurableStepError`` if an operation has more child flows than the store allows.
  func checkChildren(of operation: some ComposableOperation) throws {
    if let limit = session.backend.mostChildren { try check(operation.childFlowCount, limit) }
  }

  /// Counts a child flow that begins.
  ///
  /// - Throws: A ``DurableStepError`` if it is one too many.
  func addChild() throws {
    if let limit = session.backend.mostChildren { try check(nextChild(), limit) }
  }

  private func check(_ count: Int, _ limit: Int) throws {
    if count <= limit { return }
    throw error(
      .tooManyChildren(count: count, limit: limit, store: session.backend.location))
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
