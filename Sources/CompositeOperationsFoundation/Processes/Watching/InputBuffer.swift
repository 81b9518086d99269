internal import CompositeOperations

/// The standard input on its way from the run to the thread that writes it.
final class InputBuffer: Sendable {
  /// At this number of bytes, the run waits until they are taken (back pressure).
  private static let capacity = 64 << 10

  /// The bytes for the writer, or their absence.
  enum Taken {
    case bytes([UInt8])
    /// None are there now. The writer is notified of the next ones.
    case nothing
    case end
  }

  private struct State {
    var bytes: [UInt8] = []
    /// Whether no bytes follow.
    var hasEnded = false
    /// Whether the program does not read any more.
    var isClosed = false
    var isWriterWaiting = false
    /// The run, which waits for room.
    var waiter: CheckedContinuation<Bool, Never>?

    /// - Returns: Whether the writer has to be notified.
    mutating func takeWaitingWriter() -> Bool {
      let isWaiting = isWriterWaiting && (hasEnded || !bytes.isEmpty)
      if isWaiting { isWriterWaiting = false }
      return isWaiting
    }
  }

  private let state = Lock(State())

  /// Adds bytes, and waits while there is no room for others. It must not be called concurrently.
  ///
  /// - Parameter notifyWriter: Makes the thread call ``take()``, which has returned nothing before.
  /// - Returns: Whether the program may read more.
  func append(_ bytes: some Sequence<UInt8>, notifyWriter: () -> Void) async -> Bool {
    let (isOpen, isFull, isWaiting) = state.withLock { state in
      if state.isClosed { return (false, false, false) }
      state.bytes += bytes
      let isFull = state.bytes.count >= Self.capacity
      return (true, isFull, state.takeWaitingWriter())
    }
    if isWaiting { notifyWriter() }
    if !isFull { return isOpen }
    return await withCheckedContinuation { waiter in
      let answer: Bool? = state.withLock { state in
        if state.isClosed { return false }
        if state.bytes.count < Self.capacity { return true }
        state.waiter = waiter
        return nil
      }
      if let answer { waiter.resume(returning: answer) }
    }
  }

  /// Ends the input after the bytes that were added.
  ///
  /// - Parameter notifyWriter: As for ``append(_:notifyWriter:)``.
  func finish(notifyWriter: () -> Void) {
    let isWaiting = state.withLock { state in
      state.hasEnded = true
      return state.takeWaitingWriter()
    }
    if isWaiting { notifyWriter() }
  }

  /// Whether the program does not read any more.
  var isClosed: Bool { state.withLock(\.isClosed) }

  /// Takes all bytes, on the thread that writes them.
  func take() -> Taken {
    let (taken, waiter): (Taken, CheckedContinuation<Bool, Never>?) = state.withLock { state in
      if state.bytes.isEmpty {
        state.isWriterWaiting = !state.hasEnded
        return (state.hasEnded ? .end : .nothing, nil)
      }
      return (.bytes(exchange(&state.bytes, with: [])), state.waiter.take())
    }
    waiter?.resume(returning: true)
    return taken
  }

  /// Drops all bytes, because the program does not read any more.
  func close() {
    let waiter = state.withLock { state in
      state.isClosed = true
      state.bytes = []
      return state.waiter.take()
    }
    waiter?.resume(returning: false)
  }
}
