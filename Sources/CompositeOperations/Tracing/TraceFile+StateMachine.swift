extension TraceFile {
  /// The runs that go on, and what is to be written of those that have ended.
  struct StateMachine: Sendable {
    private enum State: Sendable {
      case open
      /// Nothing that comes now is of interest: the file is closed or cannot be written.
      case over
    }

    /// How many ended runs are written together: about 64 KB of text.
    static let blockLength = 256

    private var state = State.open
    private var assembler: TraceAssembler
    private var ended: [TraceAssembler.Step] = []

    init(from beginning: EventTime) { assembler = TraceAssembler(from: beginning) }

    /// - Returns: Whether there is a block to write.
    mutating func observed(_ entry: TraceEntry) -> Bool {
      switch state {
      case .over: return false
      case .open:
        let step = assembler.observed(entry)
        if case .nothing = step { return false }
        ended.append(step)
        return ended.count >= Self.blockLength
      }
    }

    /// What is to be written, the first one to write having taken what others found too.
    mutating func taken() -> [TraceAssembler.Step] {
      if ended.count < Self.blockLength { return [] }
      defer { ended = [] }
      return ended
    }

    mutating func failed() { giveUp() }

    /// - Returns: All that is still to be written, what goes on included; nil if it is closed or has failed.
    mutating func closed() -> [TraceAssembler.Step]? {
      switch state {
      case .over: return nil
      case .open:
        let rest = ended + assembler.unfinished.map { .ended($0) }
        giveUp()
        return rest
      }
    }

    private mutating func giveUp() {
      state = .over
      ended = []
      assembler = TraceAssembler(from: EventTime(nanoseconds: 0))
    }
  }
}
