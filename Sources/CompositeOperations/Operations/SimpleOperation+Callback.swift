extension SimpleOperation {
  /// Returns an operation that starts work with a callback and ends when the callback is called.
  ///
  /// ```swift
  /// let legacy = SimpleOperation<Data>.withCallback { finish in
  ///   let call = oldAPI.fetch { data, error in
  ///     finish(data.map(Outcome.result) ?? .error(error ?? OldAPIError.unknown))
  ///   }
  ///   finish.onCancel { [weak call] in call?.cancel() }
  /// }
  /// ```
  ///
  /// The run ends when ``OperationFinish/callAsFunction(_:)-(Outcome<Success>)`` is called, from
  /// any thread. If the handle is dropped uncalled, the run ends in an
  /// ``OperationNeverFinishedError``.
  ///
  /// - Parameter begin: Starts the work and keeps the handle until the work is over. An error that
  ///   it throws ends the run.
  public static func withCallback(
    _ begin: @escaping @Sendable (OperationFinish<Success>) throws -> Void
  ) -> SimpleOperation {
    withContext { context in
      let ending = OperationFinish<Success>.Storage(scope: context.scope)
      let outcome = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          ending.wait(continuation)
          let finish = OperationFinish(ending)
          do { try begin(finish) } catch { finish(.error(error)) }
        }
      } onCancel: {
        ending.cancel()
      }
      return try outcome.get()
    }
  }
}

/// The error of a callback operation whose finish handle was dropped uncalled.
public struct OperationNeverFinishedError: Error, CustomStringConvertible {
  public var description: String {
    "the finish handle of a callback operation was dropped before it was called; "
      + "call it once on every path, including failure and cancellation"
  }
}
