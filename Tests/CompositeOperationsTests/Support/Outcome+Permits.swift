import CompositeOperations

extension Outcome {
  /// The first permit error, from any depth of composite errors.
  var firstPermitError: PermitError? {
    var error = error
    while let composite = error {
      switch composite {
      case let error as PermitError: return error
      case let composite as ParallelOperationError:
        error = composite.failures.first?.outcome.error
      case let composite as SequentialOperationError:
        error = composite.steps.last?.outcome.error
      case let retried as RetryError: error = retried.errors.first
      default: return nil
      }
    }
    return nil
  }
}
