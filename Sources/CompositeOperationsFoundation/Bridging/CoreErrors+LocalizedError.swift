public import CompositeOperations
public import Foundation
public import OperationTracing

// Applications show the `localizedDescription` of an error. With these conformances it is the
// description; otherwise it would be "The operation could not be completed" for every error. The
// errors of this module conform beside their declarations.

extension ChildNotAddedError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}

extension ParallelOperationError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}

extension OperationGraphError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}

extension CapabilityError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}

extension FailedConditionsError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}

extension NoConditionMetError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}

extension PermitError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}

extension PoolRefusalError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}

extension OperationNeverFinishedError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}

extension SequentialOperationError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}

extension TraceFileError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}

extension TimeoutError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}

extension CircuitOpenError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}

extension RetryError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}
