extension SimpleOperation {
  /// Returns an operation that begins some work and ends when a callback finishes it.
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
  /// The run ends when ``OperationFinish/callAsFunction(_:)-(Outcome<Success>)`` is called, from any thread, or when
  /// the handle is dropped without that: then in an ``OperationNeverFinishedError``.
  ///
  /// - Parameter begin: Begins the work and keeps the handle until the work is over. An error that
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

/// The error of a callback operation whose finish handle went away uncalled.
public struct OperationNeverFinishedError: Error, CustomStringConvertible {
  public var description: String {
    "the finish handle of a callback operation was dropped before it was called; "
      + "call it once on every path, including failure and cancellation"
  }
}
