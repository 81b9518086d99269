/// The programs that have not been started, in FIFO order.
struct StartQueue {
  struct Start {
    let child: ChildProcess
    /// The schedule of the next attempts, if they may help; nil before the first attempt.
    var looks: Looks?
    var lastTry: Looks.Moment?
  }

  /// How long the start is retried. Between its fork and its exec, a program keeps inherited
  /// descriptors open, and on a busy machine that takes some time.
  private static let patience = Duration.seconds(1)

  private var starts: [UInt64: Start] = [:]
  private var next: UInt64 = 1
  private var last: UInt64 = 0

  /// Whether a program can be started now.
  var isReady: Bool { next <= last }

  /// - Returns: The number that identifies the program from now on.
  mutating func append(_ child: ChildProcess) -> UInt64 {
    last += 1
    starts[last] = Start(child: child)
    return last
  }

  mutating func remove(_ identifier: UInt64) -> Start? { starts.removeValue(forKey: identifier) }

  /// The first program that has not been tried.
  mutating func popFirst() -> (UInt64, Start)? {
    while isReady {
      let identifier = next
      next += 1
      if let start = starts.removeValue(forKey: identifier) { return (identifier, start) }
    }
    return nil
  }

  /// Keeps a program for another attempt.
  ///
  /// - Returns: The time of that attempt; nil if the time for attempts is over.
  mutating func postpone(
    _ start: Start, _ identifier: UInt64, at now: Looks.Moment
  ) -> Looks.Moment? {
    let lastTry = start.lastTry ?? now.advanced(by: Self.patience)
    if now >= lastTry { return nil }
    var looks = start.looks ?? Looks(from: now)
    looks.lookedInVain(at: now)
    starts[identifier] = Start(child: start.child, looks: looks, lastTry: lastTry)
    return looks.next
  }
}
