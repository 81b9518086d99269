/// What a run and everything below it stand in: time, chance, observers, and where bodies run.
///
/// ```swift
/// let environment = OperationEnvironment(clock: manualClock, randomness: .seeded(7))
/// let outcome = await sync.run(in: environment)
/// ```
public struct OperationEnvironment: Sendable {
  /// The clock that operations wait by. `ContinuousClock` by default.
  public var clock: any Clock<Duration> {
    get { chosenClock ?? ContinuousClock() }
    set { chosenClock = newValue }
  }

  /// The random numbers that operations draw. The system's by default.
  public var randomness: OperationRandomness {
    get { chosenRandomness ?? .system }
    set { chosenRandomness = newValue }
  }

  /// Who sees the events of the run and of everything below it. Nobody by default.
  public var observers: [any OperationObserver]

  /// Where bodies run, or nil for where the caller's run: Swift's own thread pool as a rule.
  public var executor: (any TaskExecutor)?

  private var chosenClock: (any Clock<Duration>)?
  private var chosenRandomness: OperationRandomness?

  /// - Parameters:
  ///   - clock: What operations wait by; nil for a `ContinuousClock`.
  ///   - randomness: What operations draw; nil for the system's random numbers.
  ///   - observers: Who sees the events of the run and of everything below it.
  ///   - executor: Where bodies run; nil for where the caller's run.
  public init(
    clock: (any Clock<Duration>)? = nil, randomness: OperationRandomness? = nil,
    observers: [any OperationObserver] = [], executor: (any TaskExecutor)? = nil
  ) {
    chosenClock = clock
    chosenRandomness = randomness
    self.observers = observers
    self.executor = executor
  }

  /// Whether operations find in it what they would find without it.
  var isPlain: Bool { chosenClock == nil && chosenRandomness == nil && observers.isEmpty }
}
