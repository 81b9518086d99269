public import CompositeOperations

/// Keeps every event that it sees, in the order in which they came.
///
/// ```swift
/// let recorder = RecordingObserver()
/// _ = await sync.observed(by: recorder).run()
/// #expect(recorder.outcomes.map(\.name) == ["FetchUser", "Sync"])
/// ```
public final class RecordingObserver: OperationObserver {
  private let recorded = Lock<[OperationEvent]>([])

  /// An observer that has seen nothing yet.
  public init() {}

  public func observe(_ event: OperationEvent) { recorded.withLock { $0.append(event) } }

  /// The events so far.
  public var events: [OperationEvent] { recorded.withLock { $0 } }

  /// The events so far of runs of one name.
  public func events(of name: String) -> [OperationEvent] { events.filter { $0.name == name } }

  /// The outcomes of the runs that have ended, in the order of their ends.
  public var outcomes: [(name: String, outcome: Outcome<any Sendable>)] {
    events.compactMap { event in
      if case .ended(let outcome, _) = event.kind { (event.name, outcome) } else { nil }
    }
  }
}
