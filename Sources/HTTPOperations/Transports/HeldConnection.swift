internal import CompositeOperations

/// A connection that is in use until a function of the user returns. A request that the function
/// waits for cannot wait for it.
final class HeldConnection: Sendable {
  /// Those of the functions that the current task is part of.
  @TaskLocal private static var enclosing: [HeldConnection] = []

  private let host: String
  private let transport: ObjectIdentifier
  /// False after the function has returned. A task that it has started may run for longer.
  private let isHeld = Lock(true)

  private init(_ host: String, _ transport: any HTTPTransport) {
    self.host = host
    self.transport = ObjectIdentifier(transport)
  }

  /// How many connections to a host the functions around the caller hold.
  static func count(to host: String, on transport: any HTTPTransport) -> Int {
    enclosing.count { held in
      held.host == host && held.transport == ObjectIdentifier(transport)
        && held.isHeld.withLock { $0 }
    }
  }

  /// Calls a function that holds a connection to a host.
  static func held<Value>(
    to host: String, on transport: any HTTPTransport,
    during body: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    let held = HeldConnection(host, transport)
    defer { held.isHeld.withLock { $0 = false } }
    return try await $enclosing.withValue(enclosing + [held], operation: body)
  }
}
