/// The sending end of a stream of server-sent events.
package struct EventSink: Sendable {
  private let sendEvent: @Sendable (EventMessage) -> Bool

  init(_ send: @escaping @Sendable (EventMessage) -> Bool) { sendEvent = send }

  /// Sends an event, without waiting for the client.
  ///
  /// If the client is slow, an event replaces an unsent one with the same name. If the unsent
  /// events of different names exceed the limit of the server, the connection is closed.
  ///
  /// - Returns: Whether the stream is still open.
  @discardableResult package func send(_ event: EventMessage) -> Bool { sendEvent(event) }
}
