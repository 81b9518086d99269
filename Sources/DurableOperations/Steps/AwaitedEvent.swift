public import CompositeOperations

/// An operation that waits for an event which is sent to its durable run from outside.
///
/// ```swift
/// import DurableOperations
///
/// let approval = AwaitedEvent("approved", as: Approval.self, within: .seconds(7 * 86_400))
/// ```
///
/// Send the event with ``RunStore/send(_:as:to:replacing:)``, before or after the wait begins; the first event
/// of a name counts. An event that is sent after the limit does not. The wait parks the run as a ``DurableSleep`` does.
///
/// Outside a durable run no event can arrive, so the operation waits for its limit or its
/// cancellation.
public struct AwaitedEvent<Payload: Codable & Sendable>: ComposableOperation {
  /// The name of the event.
  public let event: String
  /// How long to wait; nil for any time.
  public let limit: Duration?

  /// Creates the wait for an event.
  ///
  /// - Parameters:
  ///   - event: The name of the event.
  ///   - type: The type of what is sent with it.
  ///   - limit: How long to wait at most, by the wall clock; nil for any time. After that the
  ///     operation ends in a `TimeoutError`.
  public init(_ event: String, as type: Payload.Type, within limit: Duration? = nil) {
    self.event = event
    self.limit = limit
  }

  public var operationName: String { "AwaitedEvent(\(event))" }

  public func perform(in context: OperationContext) async throws -> Payload {
    guard let journal = context.journal as? RunJournal else {
      try await context.pause(limit ?? .seconds(100 * 365 * 86_400))
      throw timeout
    }
    let part = try journal.part(JournalKey(reserved: "event", event))
    let wake: Int64? = if let limit { try await part.wake(after: limit) } else { nil }
    let (backend, run) = (journal.session.backend, journal.session.run)
    let found = try await part.wait(
      for: event, changing: [.run(run), .event(run, event)], until: wake, in: context
    ) {
      try await backend.event(event, of: run)
    }
    // The limit decides, and not the time at which a process looks.
    guard let found, wake.map({ found.sent <= $0 }) ?? true else { throw timeout }
    journal.step.received(event)
    let payload = found.payload
    do { return try journal.session.coder.decode(Payload.self, from: payload) } catch {
      throw JournaledError(
        type: "DecodingError",
        description: "the event '\(event)' of run \(run) is not a \(Payload.self): \(error)")
    }
  }

  private var timeout: TimeoutError {
    TimeoutError(name: operationName, limit: limit ?? .zero)
  }
}
