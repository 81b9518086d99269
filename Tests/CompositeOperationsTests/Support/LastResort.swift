import Testing

/// Runs a body that would hang if the library were broken. After two minutes, it records an issue
/// and calls a closure that lets the body end.
func withLastResort<Value>(
  _ exit: @escaping @Sendable () -> Void, _ body: () async throws -> Value
) async rethrows -> Value {
  let watchdog = Task {
    guard (try? await Task.sleep(for: .seconds(120))) != nil else { return }
    Issue.record("The test has not ended after 120 s.")
    exit()
  }
  defer { watchdog.cancel() }
  return try await body()
}
