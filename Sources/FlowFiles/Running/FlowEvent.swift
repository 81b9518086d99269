/// Something that happens in a run of a flow file, for the program that shows it.
public struct FlowEvent: Sendable {
  public enum Kind: Sendable {
    /// A line for people.
    case message(String)
    /// The message of a failed step, or of the error that has ended the run.
    case failure(String)
    case runBegan(isResumed: Bool, stepCount: Int)
    /// The first attempt of a step or a child has begun.
    case stepBegan(String)
    case stepEnded(FlowEnd)
    /// Whole lines of the output of a step or a child. See ``FlowOutputMode``.
    case output(String, [UInt8])
    /// An interactive step uses the terminal from now on, or no longer.
    case terminal(isUsed: Bool)
    /// The numbers are those of the steps by state.
    case runEnded(FlowRunState, counts: [FlowEnd.State: Int])
  }

  /// The name of the flow.
  public let flow: String
  /// The number of the run.
  public let run: Int
  /// The name that ``FlowRunOptions/name`` gave the run.
  public let name: String?
  public let kind: Kind
}
