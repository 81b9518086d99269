/// The programs that are still to be started, in the order in which they came.
struct StartQueue {
  struct Start {
    let child: ChildProcess
    /// When to try again, where another try may help; nil before the first.
    var looks: Looks?
    var lastTry: Looks.Moment?
  }

  /// So long it is tried again. Between its fork and its exec a program keeps what it has inherited open, and on a busy
  /// machine that takes its time.
  private static let patience = Duration.seconds(1)

  private var starts: [UInt64: Start] = [:]
  private var next: UInt64 = 1
  private var last: UInt64 = 0

  /// Whether one can be started now.
  var isReady: Bool { next <= last }

  /// - Returns: The number by which it is known from here on.
  mutating func append(_ child: ChildProcess) -> UInt64 {
    last += 1
    starts[last] = Start(child: child)
    return last
  }

  mutating func remove(_ identifier: UInt64) -> Start? { starts.removeValue(forKey: identifier) }

  /// The first of those that have not been tried.
  mutating func popFirst() -> (UInt64, Start)? {
    while isReady {
      let identifier = next
      next += 1
      if let start = starts.removeValue(forKey: identifier) { return (identifier, start) }
    }
    return nil
  }

  /// Keeps one for another try.
  ///
  /// - Returns: When that is to be; nil if it has been tried for long enough.
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
