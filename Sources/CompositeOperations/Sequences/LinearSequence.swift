/// A sequence that runs one step after another while they end in a result.
///
/// ```swift
/// let warmUp = SequentialOperation(.linear(OpenDatabase(), MigrateSchema(), FillCache()))
/// let sync = SequentialOperation(LinearSequence(
///   { _ in FetchUser() },
///   { previous in previous?.result(of: FetchUser.self).map(FetchIssuesOf.init) }
/// ))
/// ```
///
/// A builder that returns `nil` ends the sequence early, as a success. A step that fails or cancels
/// itself ends the sequence with its error or cancellation.
public struct LinearSequence: OperationSequence {
  /// A closure that creates a step from the previous one, which is nil for the first step.
  public typealias Builder = @Sendable (FinishedStep?) throws -> (any ComposableOperation)?

  private enum Steps: Sendable {
    case made(by: [Builder])
    /// Steps that do not depend on one another.
    case given([any ComposableOperation])

    var count: Int {
      switch self {
      case .made(let builders): builders.count
      case .given(let operations): operations.count
      }
    }
  }

  private let steps: StackSafe<Steps>
  private var begun = 0

  /// Creates a sequence of steps that are each created from the previous one.
  ///
  /// - Parameter builders: Create the steps, in order.
  public init(_ builders: Builder...) { steps = StackSafe(.made(by: builders)) }

  /// Creates a sequence of steps that do not depend on each other's results.
  ///
  /// - Parameter operations: The steps, in order.
  public init(_ operations: [any ComposableOperation]) { steps = StackSafe(.given(operations)) }

  /// Creates a sequence of steps that do not depend on each other's results.
  ///
  /// - Parameters:
  ///   - first: The first step.
  ///   - others: The other steps, in order.
  public init(_ first: any ComposableOperation, _ others: any ComposableOperation...) {
    self.init([first] + others)
  }

  public var expectedStepCount: Int? { steps.value.count }

  /// Whether a closure of the user receives the step.
  func asksBuilder(after previous: FinishedStep?) -> Bool {
    guard case .made(let builders) = steps.value else { return false }
    return begun < builders.count && previous.map { $0.outcome.result != nil } ?? true
  }

  public mutating func nextOperation(
    after previous: FinishedStep?
  ) throws -> (any ComposableOperation)? {
    if let previous, previous.outcome.result == nil { return nil }
    let steps = steps.value
    if begun == steps.count { return nil }
    begun += 1
    switch steps {
    case .made(let builders): return try builders[begun - 1](previous)
    case .given(let operations): return operations[begun - 1]
    }
  }
}

extension LinearSequence: StepsKnowing {
  var outline: OperationOutline {
    switch steps.value {
    case .made: .start([])
    case .given(let operations): .sequence(operations)
    }
  }
}

extension OperationSequence where Self == LinearSequence {
  /// Returns a sequence that runs one operation after another while they end in a result.
  ///
  /// - Parameter operations: The operations, in order.
  public static func linear(_ operations: [any ComposableOperation]) -> Self {
    LinearSequence(operations)
  }

  /// Returns a sequence that runs one operation after another while they end in a result.
  ///
  /// - Parameters:
  ///   - first: The first operation.
  ///   - others: The other operations, in order.
  public static func linear(
    _ first: any ComposableOperation, _ others: any ComposableOperation...
  ) -> Self {
    LinearSequence([first] + others)
  }
}
