/// What a run and everything below it stand in: time, chance, observers, and where bodies run.
///
/// ```swift
/// let environment = OperationEnvironment(clock: manualClock, randomness: .seeded(7))
/// let outcome = await sync.run(in: environment)
/// ```
public struct OperationEnvironment: Sendable {
  /// The clock that operations wait by. `ContinuousClock` by default.
  public var clock: any Clock<Duration> {
    get { choices.clock ?? ContinuousClock() }
    set { choose { $0.clock = newValue is ContinuousClock ? nil : newValue } }
  }

  /// The clock, if it is not a `ContinuousClock`.
  var customClock: (any Clock<Duration>)? { box?.choices.clock }

  /// The random numbers that operations draw. The system's by default.
  public var randomness: OperationRandomness {
    get { choices.randomness ?? .system }
    set { choose { $0.randomness = newValue } }
  }

  /// Who sees the events of the run and of everything below it. Nobody by default.
  public var observers: [any OperationObserver] {
    get { choices.observers }
    set { choose { $0.observers = newValue } }
  }

  /// Where bodies run, or nil for where the caller's run: Swift's own thread pool as a rule.
  public var executor: (any TaskExecutor)? {
    get { choices.executor }
    set { choose { $0.executor = newValue } }
  }

  /// The composite that takes children from the bodies in it, if one does.
  var growth: (any GrowingComposite)? {
    get { choices.growth }
    set { choose { $0.growth = newValue } }
  }

  /// The same for a run that is in no composite.
  var withoutGrowth: OperationEnvironment {
    if growth == nil { return self }
    var copy = self
    copy.growth = nil
    return copy
  }

  /// What was chosen instead of the defaults.
  private struct Choices: Sendable {
    /// Nil for a `ContinuousClock`.
    var clock: (any Clock<Duration>)?
    var randomness: OperationRandomness?
    var observers: [any OperationObserver] = []
    var executor: (any TaskExecutor)?
    var growth: (any GrowingComposite)?

    func tellObservers(of event: OperationEvent) {
      // Where they lie, without a copy of each.
      let observers = observers.span
      for index in observers.indices { observers[index].observe(event) }
    }
  }

  private final class Box: Sendable {
    let choices: Choices
    init(_ choices: Choices) { self.choices = choices }
  }

  // By one reference, because every observed run has a copy of its environment, on all processors.
  private var box: Box?
  private var choices: Choices { box?.choices ?? Choices() }

  private mutating func choose(_ change: (inout Choices) -> Void) {
    var choices = choices
    change(&choices)
    box = Box(choices)
  }

  /// - Parameters:
  ///   - clock: What operations wait by; nil for a `ContinuousClock`.
  ///   - randomness: What operations draw; nil for the system's random numbers.
  ///   - observers: Who sees the events of the run and of everything below it.
  ///   - executor: Where bodies run; nil for where the caller's run.
  public init(
    clock: (any Clock<Duration>)? = nil, randomness: OperationRandomness? = nil,
    observers: [any OperationObserver] = [], executor: (any TaskExecutor)? = nil
  ) {
    let clock = clock is ContinuousClock ? nil : clock
    if clock == nil, randomness == nil, observers.isEmpty, executor == nil { return }
    box = Box(
      Choices(clock: clock, randomness: randomness, observers: observers, executor: executor))
  }

  /// Whether anybody sees the events.
  var isObserved: Bool {
    guard let box else { return false }
    return !box.choices.observers.isEmpty
  }

  /// Whether operations find in it what they would find without it.
  var isPlain: Bool {
    guard let choices = box?.choices else { return true }
    return choices.observers.isEmpty && choices.clock == nil && choices.randomness == nil
      && choices.growth == nil
  }

  /// Whether an observer wants to see lines of a level.
  func wantsLines(of level: OperationLogLevel) -> Bool {
    guard let box else { return false }
    return box.choices.observers.contains { observer in
      observer.leastLogLevel.map { $0 <= level } ?? false
    }
  }

  func tellObservers(of event: OperationEvent) { box?.choices.tellObservers(of: event) }
}
