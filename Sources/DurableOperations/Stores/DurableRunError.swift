public import CompositeOperations

/// The error of a request for a durable run, or of a wait for its outcome.
public struct DurableRunError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of the problem.
  public enum Reason: Hashable, Sendable {
    /// Another process has taken the run over, or the run was retried. The process that had claimed
    /// it with this fence does not run it any more, and has written nothing since.
    case taken(fence: Int)
    /// Another flow, or the same flow with another initial state, has the name.
    case exists(flow: String, isSameFlow: Bool)
    /// The run cannot continue until the program is fixed. Nothing of it is lost.
    case stuck(because: String)
    /// The run was cancelled in its store, for this reason, if one was given.
    case cancelled(because: String?)
  }

  /// The name of the run.
  public let run: RunID
  /// The kind of the problem.
  public let reason: Reason

  package init(_ run: RunID, _ reason: Reason) {
    self.run = run
    self.reason = reason
  }

  /// The run, the reason, and the remedy.
  public var description: String {
    switch reason {
    case .taken(let fence):
      return """
        run \(run) was taken over by another process, or retried, after claim \(fence); this process \
        writes nothing more for it
        """
    case .exists(let flow, let isSameFlow):
      let problem =
        isSameFlow
        ? "a run of \(flow) with another initial state has this name"
        : "a run of the flow \(flow) has this name"
      return "run \(run): \(problem); use another name, or forget that run when it has ended"
    case .stuck(let reason):
      return "run \(run) is stuck: \(reason); fix the program, then retry the run"
    case .cancelled(let reason):
      return "run \(run) was cancelled" + (reason.map { " because \($0)" } ?? "")
    }
  }
}

extension DurableRunError {
  /// Whether this process does not run the run any more.
  package var isTaken: Bool {
    if case .taken = reason { true } else { false }
  }

  /// Whether the run was cancelled in its store.
  package var isCancelled: Bool {
    if case .cancelled = reason { true } else { false }
  }

  /// Whether another run has the name.
  package var isNameInUse: Bool {
    if case .exists = reason { true } else { false }
  }

  /// Whether the claim of this process is not valid any more.
  package var endsClaim: Bool { isTaken || isCancelled }
}

extension DurableRunError: CancellationRepresenting {
  public var representsCancellation: Bool { isCancelled }
}
