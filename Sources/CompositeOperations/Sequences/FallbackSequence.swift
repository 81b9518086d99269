/// A sequence that runs the next operation after an error and ends with the first result.
///
/// ```swift
/// let page = SequentialOperation(.fallingBack([ReadCache(url), FetchPage(url)]))
/// ```
///
/// A cancellation ends it. If all operations fail, the error contains all their errors, in order.
public struct FallbackSequence<Value: Sendable>: LastStepSequence {
  public typealias Output = Value

  @usableFromInline let storage: Storage

  @usableFromInline final class Storage: Sendable {
    @usableFromInline let operations: [any ComposableOperation<Value>]
    @usableFromInline let release = NestedRelease()

    @inlinable init(_ operations: [any ComposableOperation<Value>]) { self.operations = operations }

    deinit { NestedRelease.begin(operations) }
  }

  @usableFromInline var begun = 0

  /// Creates a sequence of alternatives.
  ///
  /// - Parameter operations: The operations, in the order in which they are tried.
  /// - Precondition: `operations` is not empty.
  @inlinable public init(_ operations: [any ComposableOperation<Value>]) {
    precondition(!operations.isEmpty, "`operations` must not be empty")
    storage = Storage(operations)
  }

  @inlinable public mutating func nextOperation(
    after previous: FinishedStep?
  ) -> (any ComposableOperation)? {
    if let previous, previous.error == nil { return nil }
    if begun == storage.operations.count { return nil }
    begun += 1
    return storage.operations[begun - 1]
  }
}

extension FallbackSequence: StepsKnowing {
  var outline: OperationOutline { .start(Array(storage.operations.prefix(1))) }
}

extension OperationSequence {
  /// Returns a sequence that runs the next operation after an error and ends with the first result.
  ///
  /// - Parameter operations: The operations, in the order in which they are tried.
  /// - Precondition: `operations` is not empty.
  public static func fallingBack<Value>(_ operations: [any ComposableOperation<Value>]) -> Self
  where Self == FallbackSequence<Value> {
    FallbackSequence(operations)
  }
}
