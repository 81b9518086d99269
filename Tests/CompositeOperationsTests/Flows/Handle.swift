import CompositeOperations

/// A resource that has to be closed, such as a connection or a file.
struct Handle: Sendable, Hashable, CustomStringConvertible {
  let number: Int
  let name: String

  var description: String { "\(name) #\(number)" }
}

extension Outcome<any Sendable> {
  /// The handles in the outcome, in results and in composite errors.
  var handles: [Handle] {
    switch self {
    case .result(let value): Handle.found(in: value)
    case .error(let error): Handle.found(in: error)
    case .cancelled: []
    }
  }
}

extension Handle {
  fileprivate static func found(in value: any Sendable) -> [Handle] {
    switch value {
    case let handle as Handle: [handle]
    case let handles as [Handle]: handles
    case let (_, handle) as (Int, Handle): [handle]
    case let outcomes as [Outcome<Handle>]: outcomes.flatMap { $0.map { $0 }.handles }
    case let steps as FinishedSteps: steps.flatMap(\.outcome.handles)
    default: []
    }
  }

  fileprivate static func found(in error: any Error) -> [Handle] {
    switch error {
    case let error as ParallelOperationError: error.children.flatMap(\.outcome.handles)
    case let error as SequentialOperationError: error.steps.flatMap(\.outcome.handles)
    case let error as RetryError: error.errors.flatMap { found(in: $0) }
    default: []
    }
  }
}
