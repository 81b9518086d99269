internal import SystemSupport

extension TraceFile {
  /// The unfinished runs, and the ended runs that are still to be written.
  struct StateMachine: Sendable {
    private enum State: Sendable {
      case open
      /// Events are ignored: the file is closed or cannot be written.
      case over
    }

    /// How many ended runs are written together: about 64 KB of text.
    static let blockLength = 256

    private var state = State.open
    private var assembler: TraceAssembler
    private var ended: [TraceAssembler.Step] = []

    init(from beginning: EventTime) { assembler = TraceAssembler(from: beginning) }

    /// - Returns: Whether a block is ready to be written.
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

    /// Takes the next block; empty if another thread has taken it.
    mutating func taken() -> [TraceAssembler.Step] {
      if ended.count < Self.blockLength { return [] }
      defer { ended = [] }
      return ended
    }

    mutating func failed() { giveUp() }

    /// - Returns: All that is still to be written, with the unfinished runs; nil if the file is
    ///   closed or writing has failed.
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
