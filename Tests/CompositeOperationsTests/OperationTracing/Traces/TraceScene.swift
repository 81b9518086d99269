import CompositeOperations
import CompositeOperationsTestKit
import OperationTracing

/// A flow with every kind of trace entry, in a deterministic order.
enum TraceScene {
  /// A text with characters that formats have to escape.
  static let oddText = "\"odd\" \\ / \u{0}\u{1B}\u{7F}\r\n\t é🙂\u{2028}"

  /// Runs the flow and waits for its end.
  static func run(observedBy observer: some OperationObserver) async {
    let clock = ManualClock()
    let executor = SeededExecutor(seed: 1)
    let environment = OperationEnvironment(clock: clock, observers: [observer], executor: executor)
    let run = operation().start(in: environment)
    executor.drain()
    clock.advance(by: .seconds(1))
    executor.drain()
    _ = await run.outcome
    executor.drain()
  }

  static var trace: OperationTrace {
    get async {
      let recorder = TraceRecorder()
      await run(observedBy: recorder)
      return recorder.trace
    }
  }

  private static func operation() -> some ComposableOperation {
    let tries = Log<Int>()
    let list: [any ComposableOperation<Void>] = [
      SimpleOperation.withContext { context in context.log(.warning, oddText) }.named("logs"),
      SimpleOperation {
        tries.add(0)
        if tries.count < 2 { throw TestError("not yet") }
      }.named("tried").retrying(attempts: 2, backoff: .constant(.seconds(1))),
      SimpleOperation { throw TestError(oddText) }.named(oddText),
      SimpleOperation { throw CancellationError() }.named("stops"),
      SimpleOperation {}.delayed(by: .seconds(1)).named("waits"),
      SimpleOperation<Void>.withCallback { finish in
        finish(.result(()))
        finish(.result(()))
      }.named("finishes again"),
    ]
    return ParallelOperation(list, onFailure: .runAll).named("root")
  }
}
