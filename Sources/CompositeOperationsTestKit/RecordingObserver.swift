public import CompositeOperations

/// An observer that records every event, in order of arrival.
///
/// ```swift
/// let recorder = RecordingObserver()
/// _ = await sync.observed(by: recorder).run()
/// #expect(recorder.outcomes.map(\.name) == ["FetchUser", "Sync"])
/// ```
public final class RecordingObserver: OperationObserver {
  private let recorded = Lock<[OperationEvent]>([])

  /// Creates an observer without events.
  public init() {}

  public func observe(_ event: OperationEvent) { recorded.withLock { $0.append(event) } }

  /// The events so far.
  public var events: [OperationEvent] { recorded.withLock { $0 } }

  /// Returns the events so far of the runs with a name.
  public func events(of name: String) -> [OperationEvent] { events.filter { $0.name == name } }

  /// The outcomes of ended runs, in the order of their ends.
  public var outcomes: [(name: String, outcome: Outcome<any Sendable>)] {
    events.compactMap { event in
      if case .ended(let outcome, _) = event.kind { (event.name, outcome) } else { nil }
    }
  }
}
