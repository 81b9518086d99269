internal import CompositeOperations

/// A child of a timeline test, which follows its script and records its events.
struct TimelineChild: ComposableOperation {
  let number: Int
  let script: ScriptedOperation<Int>
  let recorder: TimelineRecorder

  init(_ script: TimelineScript, number: Int, recorder: TimelineRecorder) {
    self.number = number
    self.script = ScriptedOperation("child \(number)", runs: script.runs)
    self.recorder = recorder
  }

  var operationName: String { script.operationName }

  func perform(in context: OperationContext) async throws -> Int {
    let run = recorder.began(number)
    return try await withTaskCancellationHandler {
      do {
        let value = try await script.perform(in: context)
        recorder.happened(.ended(.result), to: run, of: number)
        return value
      } catch {
        if let error = error as? ScriptExhaustedError { recorder.exhausted(error) }
        let mark: TimelineMark =
          if !(error is CancellationError) { .error } else if Task.isCancelled { .cancelled } else {
            .stops
          }
        recorder.happened(.ended(mark), to: run, of: number)
        throw error
      }
    } onCancel: {
      recorder.happened(.asked, to: run, of: number)
    }
  }
}
