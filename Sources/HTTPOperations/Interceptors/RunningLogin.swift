internal import CompositeOperations

/// A login of an `HTTPBearerToken` that runs. Its own requests are sent without a token, and its
/// errors do not show the bodies that it cannot decode.
final class RunningLogin: Sendable {
  /// Those that the current task is part of.
  @TaskLocal private static var enclosing: [RunningLogin] = []

  private let owner: ObjectIdentifier
  /// False after the login has ended. A task that it has started may run for longer.
  private let isRunning = Lock(true)

  private init(of owner: HTTPBearerToken) { self.owner = ObjectIdentifier(owner) }

  private static var running: [RunningLogin] {
    enclosing.filter { login in login.isRunning.withLock { $0 } }
  }

  /// Whether the current task is part of a login.
  static var isCurrent: Bool { !running.isEmpty }

  /// Whether the current task is part of a login of an interceptor.
  static func isCurrent(of owner: HTTPBearerToken) -> Bool {
    running.contains { $0.owner == ObjectIdentifier(owner) }
  }

  /// Calls a function that is a login of an interceptor.
  static func run<Value>(
    of owner: HTTPBearerToken, _ body: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    let login = RunningLogin(of: owner)
    defer { login.isRunning.withLock { $0 = false } }
    return try await $enclosing.withValue(running + [login], operation: body)
  }
}
