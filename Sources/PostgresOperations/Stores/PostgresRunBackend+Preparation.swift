internal import DurableOperations

extension PostgresRunBackend {
  func preparation() async throws -> StorePreparation? {
    let name = queue.name
    // The connections of the store itself require a complete preparation.
    let pool = PostgresPool(to: address.text, capacity: 1, timeout: lease * 2 / 3)
    let found: Result<AbsurdSchema.Found, any Error>
    do {
      found = .success(
        try await repeated { try await pool.run { try AbsurdSchema.find($0, queue: name) } })
    } catch {
      found = .failure(error)
    }
    await pool.close()
    let database = try found.get()
    return StorePreparation(
      parts: [schema(database.version), queue(database)],
      omitsPassword: address.hasPassword)
  }

  private func command(_ action: String, _ arguments: String...) -> [String] {
    ["absurdctl", action, "-d", address.withoutPasswords] + arguments
  }

  private func schema(_ version: String?) -> StorePreparation.Part {
    guard let version else {
      return StorePreparation.Part(
        "schema", "missing: Absurd is not installed", isReady: false, command: command("init"))
    }
    if AbsurdSchema.isSupported(version) {
      return StorePreparation.Part(
        "schema", "Absurd \(version)", isReady: true, command: command("init"))
    }
    return StorePreparation.Part(
      "schema",
      """
      not supported: Absurd \(version) is installed, and this program supports 0.4 to 0.6; update \
      the program, or migrate the schema
      """, isReady: false, command: command("migrate"))
  }

  private func queue(_ database: AbsurdSchema.Found) -> StorePreparation.Part {
    let text =
      if database.isPartitioned {
        "not supported: the queue '\(queue.name)' is partitioned; use another one"
      } else if database.hasQueue {
        "'\(queue.name)'"
      } else {
        "missing: there is no queue '\(queue.name)'"
      }
    return StorePreparation.Part(
      "queue", text, isReady: database.hasQueue && !database.isPartitioned,
      command: command("create-queue", queue.name))
  }
}
