/// One step after another while they end in a result.
///
/// ```swift
/// let warmUp = SequentialOperation(.linear(OpenDatabase(), MigrateSchema(), FillCache()))
/// let sync = SequentialOperation(LinearSequence(
///   { _ in FetchUser() },
///   { previous in previous?.result(of: FetchUser.self).map(FetchIssuesOf.init) }
/// ))
/// ```
///
/// A builder that answers `nil` ends the sequence early, as a success. A step that fails or cancels
/// itself ends it as such.
public struct LinearSequence: OperationSequence {
  /// Makes a step from the one before it, which is nil for the first.
  public typealias Builder = @Sendable (FinishedStep?) throws -> (any ComposableOperation)?

  private let builders: [Builder]
  /// The steps, where they do not depend on one another.
  private let operations: [any ComposableOperation]?
  private var begun = 0

  /// Steps that are each made from the one before it.
  public init(_ builders: Builder...) {
    self.builders = builders
    operations = nil
  }

  /// Steps that do not depend on one another's results.
  public init(_ operations: [any ComposableOperation]) {
    self.operations = operations
    builders = operations.map { operation in { _ in operation } }
  }

  /// Steps that do not depend on one another's results.
  public init(_ first: any ComposableOperation, _ others: any ComposableOperation...) {
    self.init([first] + others)
  }

  public var expectedStepCount: Int? { builders.count }

  public mutating func nextOperation(
    after previous: FinishedStep?
  ) throws -> (any ComposableOperation)? {
    if let previous, previous.outcome.result == nil { return nil }
    if begun == builders.count { return nil }
    begun += 1
    return try builders[begun - 1](previous)
  }
}

extension LinearSequence: StepsKnowing {
  var outline: OperationOutline { operations.map { .sequence($0) } ?? .start([]) }
}

extension OperationSequence where Self == LinearSequence {
  /// One operation after another while they end in a result.
  public static func linear(_ operations: [any ComposableOperation]) -> Self {
    LinearSequence(operations)
  }

  /// One operation after another while they end in a result.
  public static func linear(
    _ first: any ComposableOperation, _ others: any ComposableOperation...
  ) -> Self {
    LinearSequence([first] + others)
  }
}
