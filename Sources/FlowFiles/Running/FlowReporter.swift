import CompositeOperations

/// Reports what happens in a run to the program, and the progress to the operation of the run.
final class FlowReporter: Sendable {
  let flow: String
  let run: Int
  /// The name of the run.
  private let name: String?
  private let secrets: FlowSecrets
  private let onEvent: @Sendable (FlowEvent) -> Void
  private let endedSteps = Lock(0)
  private let progress = Promise<@Sendable (Int) -> Void>()

  init(
    flow: String, run: Int, named name: String?, hiding secrets: FlowSecrets,
    onEvent: @escaping @Sendable (FlowEvent) -> Void
  ) {
    self.flow = flow
    self.run = run
    self.name = name
    self.secrets = secrets
    self.onEvent = onEvent
  }

  /// Sets what receives the number of steps that have ended.
  func setProgress(_ report: @escaping @Sendable (Int) -> Void) { progress.set(report) }

  /// Reports the end of a step or a child.
  func ended(_ end: FlowEnd) {
    if !end.isChild { stepEnded() }
    report(.stepEnded(end))
  }

  /// Reports a line for people.
  @Sendable func message(_ text: String) { report(.message(secrets.hidden(in: text))) }

  /// Reports the message of a failure.
  func failure(_ text: String) { report(.failure(secrets.hidden(in: text))) }

  func report(_ kind: FlowEvent.Kind) {
    onEvent(FlowEvent(flow: flow, run: run, name: name, kind: kind))
  }

  private func stepEnded() {
    let count = endedSteps.withLock { count in
      count += 1
      return count
    }
    progress.current?(count)
  }
}
