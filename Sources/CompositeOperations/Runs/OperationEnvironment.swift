/// The clock, random numbers, observers and executor of a run and of everything below it.
///
/// ```swift
/// let environment = OperationEnvironment(clock: manualClock, randomness: .seeded(7))
/// let outcome = await sync.run(in: environment)
/// ```
public struct OperationEnvironment: Sendable {
  /// The clock that operations use to wait. `ContinuousClock` by default.
  ///
  /// A sleep should last until `now` has reached its deadline, and should end with an error soon
  /// after a cancellation. If it ends earlier, it is repeated: a stub whose sleeps end immediately
  /// must also advance `now`, or a wait keeps a processor busy until it is cancelled.
  public var clock: any Clock<Duration> {
    get { box?.choices.clock ?? ContinuousClock() }
    set { choose { $0.clock = newValue is ContinuousClock ? nil : newValue } }
  }

  /// The clock, if it is not a `ContinuousClock`.
  var customClock: (any Clock<Duration>)? { box?.choices.clock }

  /// The random numbers that operations use. The system's by default.
  public var randomness: OperationRandomness {
    get { box?.choices.randomness ?? .system }
    set { choose { $0.randomness = newValue } }
  }

  /// The observers of the run and of everything below it. None by default.
  public var observers: [any OperationObserver] {
    get { box?.choices.observers ?? [] }
    set { choose { $0.observers = newValue } }
  }

  /// The executor that runs bodies; nil for the caller's, which is usually Swift's own thread pool.
  public var executor: (any TaskExecutor)? {
    get { box?.choices.executor }
    set { choose { $0.executor = newValue } }
  }

  /// The innermost growing composite, which accepts children from the bodies in it; nil for none.
  var growth: (any GrowingComposite)? {
    get { box?.choices.growth }
    set { choose { $0.growth = newValue } }
  }

  /// The journal of the durable run to which the run belongs; nil for none.
  var journal: (any StepJournal)? {
    get { box?.choices.journal }
    set { choose { $0.journal = newValue } }
  }

  /// The link to the span of the durable run to which the run belongs; nil for none.
  var link: TraceLink? {
    get { box?.choices.link }
    set { choose { $0.link = newValue } }
  }

  /// The probes of circuit breakers that the run is part of, the innermost one last.
  var probes: [CircuitProbe] {
    get { box?.choices.probes ?? [] }
    set { choose { $0.probes = newValue } }
  }

  /// The environment without the growing composite, the journal and the probes, for a run outside
  /// of them. Such a run still belongs to the same trace.
  var detached: OperationEnvironment {
    if growth == nil, journal == nil, probes.isEmpty { return self }
    var copy = self
    copy.choose {
      $0.growth = nil
      $0.journal = nil
      $0.probes = []
    }
    return copy
  }

  /// The settings that replace the defaults.
  private struct Choices: Sendable {
    /// Nil for a `ContinuousClock`.
    var clock: (any Clock<Duration>)?
    var randomness: OperationRandomness?
    var observers: [any OperationObserver] = []
    var executor: (any TaskExecutor)?
    var growth: (any GrowingComposite)?
    var journal: (any StepJournal)?
    var link: TraceLink?
    var probes: [CircuitProbe] = []

    var isPlain: Bool {
      observers.isEmpty && clock == nil && randomness == nil && growth == nil && journal == nil
        && link == nil && probes.isEmpty
    }
  }

  private final class Box: Sendable {
    let choices: Choices
    init(_ choices: Choices) { self.choices = choices }

    func tellObservers(of event: OperationEvent) {
      let observers = choices.observers
      // A span, because a loop over the array would copy each observer.
      let span = observers.span
      for index in span.indices { span[index].observe(event) }
    }
  }

  // One reference, because every observed run copies its environment, on all processors.
  private var box: Box?

  private mutating func choose(_ change: (inout Choices) -> Void) {
    var choices = box?.choices ?? Choices()
    change(&choices)
    box = Box(choices)
  }

  /// Creates an environment.
  ///
  /// - Parameters:
  ///   - clock: The clock that operations use to wait; nil for a `ContinuousClock`.
  ///   - randomness: The random numbers that operations use; nil for the system's.
  ///   - observers: The observers of the run and of everything below it.
  ///   - executor: The executor that runs bodies; nil for the caller's.
  public init(
    clock: (any Clock<Duration>)? = nil, randomness: OperationRandomness? = nil,
    observers: [any OperationObserver] = [], executor: (any TaskExecutor)? = nil
  ) {
    // Most environments have no choices, and a cast takes longer than this comparison.
    if clock == nil, randomness == nil, observers.isEmpty, executor == nil { return }
    let clock = clock is ContinuousClock ? nil : clock
    box = Box(
      Choices(clock: clock, randomness: randomness, observers: observers, executor: executor))
  }

  /// Whether there are observers.
  var isObserved: Bool {
    guard let box else { return false }
    return !box.choices.observers.isEmpty
  }

  /// Whether everything that operations see of it is the default.
  var isPlain: Bool {
    guard let box else { return true }
    return box.choices.isPlain
  }

  /// Whether both have the same choices, because one is a copy of the other.
  func isSame(as other: OperationEnvironment) -> Bool { box === other.box }

  /// Whether an observer wants log messages of a level.
  func wantsLines(of level: OperationLogLevel) -> Bool {
    guard let box else { return false }
    return box.choices.observers.contains { observer in
      observer.leastLogLevel.map { $0 <= level } ?? false
    }
  }

  func tellObservers(of event: OperationEvent) { box?.tellObservers(of: event) }
}

/// A composite that accepts children while it runs.
///
/// An environment refers to a ``Growth`` by this protocol, because it does not know operations.
protocol GrowingComposite: AnyObject, Sendable {}
