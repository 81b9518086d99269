public import CompositeOperations

extension Outcome {
  /// Expects a result.
  ///
  /// ```swift
  /// let issues = try await fetch.run().expectResult()
  /// ```
  ///
  /// - Parameters:
  ///   - file: The module and file to report in the error, by default the file of the call.
  ///   - line: The line to report in the error, by default the line of the call.
  /// - Returns: The value.
  /// - Throws: An ``ExpectationError`` if the outcome is not a result.
  @discardableResult
  public func expectResult(file: String = #fileID, line: Int = #line) throws -> Success {
    guard case .result(let value) = self else {
      throw unexpected("a result", file: file, line: line)
    }
    return value
  }

  /// Expects a result that equals a value.
  ///
  /// ```swift
  /// try await sync.run().expectResult(expected)
  /// ```
  ///
  /// - Parameters:
  ///   - expected: The expected value.
  ///   - file: The module and file to report in the error, by default the file of the call.
  ///   - line: The line to report in the error, by default the line of the call.
  /// - Throws: An ``ExpectationError`` if the outcome is not a result or has another value.
  public func expectResult(
    _ expected: Success, file: String = #fileID, line: Int = #line
  ) throws where Success: Equatable {
    guard case .result(expected) = self else {
      throw unexpected("the result \(expected)", file: file, line: line)
    }
  }

  /// Expects an error of a type.
  ///
  /// ```swift
  /// let error = try await fetch.retrying(attempts: 3).run().expectError(RetryError.self)
  /// #expect(error.errors.count == 3)
  /// ```
  ///
  /// - Parameters:
  ///   - type: The expected type; any error by default.
  ///   - file: The module and file to report in the error, by default the file of the call.
  ///   - line: The line to report in the error, by default the line of the call.
  /// - Returns: The error.
  /// - Throws: An ``ExpectationError`` if the outcome is not an error of this type.
  @discardableResult
  public func expectError<Failure: Error>(
    _ type: Failure.Type = (any Error).self, file: String = #fileID, line: Int = #line
  ) throws -> Failure {
    guard let error = error as? Failure else {
      throw unexpected("an error of type \(type)", file: file, line: line)
    }
    return error
  }

  /// Expects a cancellation.
  ///
  /// - Parameters:
  ///   - file: The module and file to report in the error, by default the file of the call.
  ///   - line: The line to report in the error, by default the line of the call.
  /// - Throws: An ``ExpectationError`` if the outcome is not a cancellation.
  public func expectCancelled(file: String = #fileID, line: Int = #line) throws {
    guard isCancelled else { throw unexpected("a cancellation", file: file, line: line) }
  }

  private func unexpected(_ expected: String, file: String, line: Int) -> ExpectationError {
    ExpectationError(
      message: "expected \(expected), but saw \(nameInSentence)", file: file, line: line)
  }

  /// The outcome as part of a sentence.
  var nameInSentence: String {
    switch self {
    case .result(let value): "the result \(value)"
    case .error(let error): "an error of type \(type(of: error)): \(error)"
    case .cancelled: "a cancellation"
    }
  }
}
