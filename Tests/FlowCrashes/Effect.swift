import CompositeOperations
import DurableOperations
import Foundation
import SQLiteSupport

/// An operation whose effect is a line in a file.
struct Effect: ComposableOperation {
  let operationName: String

  init(_ name: String) { operationName = name }

  func perform(in context: OperationContext) async throws -> String {
    try EffectFile.append(context)
    return operationName
  }
}

/// An effect that fails in the first attempt.
struct FailsFirst: ComposableOperation {
  func perform(in context: OperationContext) async throws -> String {
    guard try EffectFile.append(context) > 0 else { throw EffectError(name: "first attempt") }
    return "second attempt"
  }
}

/// An effect that always fails.
struct Fails: ComposableOperation {
  func perform(in context: OperationContext) async throws -> String {
    try EffectFile.append(context)
    throw EffectError(name: "failure")
  }
}

/// An effect that cancels itself.
struct CancelsItself: ComposableOperation {
  func perform(in context: OperationContext) async throws -> String {
    try EffectFile.append(context)
    throw CancellationError()
  }
}

/// An effect with a result of many pages.
struct LargeValue: ComposableOperation {
  func perform(in context: OperationContext) async throws -> String {
    try EffectFile.append(context)
    return String(repeating: "large ", count: 50_000)
  }
}

/// An effect that takes a while.
struct SlowEffect: ComposableOperation {
  func perform(in context: OperationContext) async throws {
    try EffectFile.append(context)
    try await Task.sleep(for: .milliseconds(300))
  }
}

/// A step that does not end.
struct EndlessStep: ComposableOperation {
  /// Whether it first opens, closes and compacts the journal.
  let disturbs: Bool

  func perform(in context: OperationContext) async throws {
    try EffectFile.append(context)
    if disturbs {
      let journal = "\(FlowCrashes.folder)/flows.sqlite"
      do {
        let connection = try SQLiteConnection.open(
          journal, for: .writing, SQLiteConfiguration(access: .existing))
        for statement in ["PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM"] {
          try connection.execute(statement)
        }
      }
      try FileHandle(forReadingFrom: URL(fileURLWithPath: journal)).close()
      try Data().write(to: URL(fileURLWithPath: "\(FlowCrashes.folder)/disturbed"))
    }
    try await Task.sleep(for: .seconds(3_600))
  }
}

/// An effect that kills its process while others are in progress.
struct KillsProcess: ComposableOperation {
  func perform(in context: OperationContext) async throws {
    try EffectFile.append(context)
    try await Task.sleep(for: .milliseconds(100))
    kill(getpid(), SIGKILL)
  }
}

/// An effect that cancels a run in the store, and waits until the cancellation arrives.
struct CancelsRun: ComposableOperation {
  let run: String

  func perform(in context: OperationContext) async throws {
    try EffectFile.append(context)
    try await FlowCrashes.store.cancel("\(run)", because: "a test")
    try await Task.sleep(for: .seconds(3_600))
  }
}

struct EffectError: Error, Codable { let name: String }

/// The file with the effects. Other processes may append to it at the same time.
private enum EffectFile {
  /// Appends a line with one write, so that a kill cannot cut it.
  ///
  /// - Returns: How many lines had the same idempotency key before.
  @discardableResult
  static func append(_ context: OperationContext) throws -> Int {
    let key = context.idempotencyKey ?? "none"
    let path = "\(FlowCrashes.folder)/effects"
    let before = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    let line = "\(FlowCrashes.launch) \(key) \(context.fencingToken ?? -1)\n"
    let file = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(file) }
    let bytes = Array(line.utf8)
    let count = unsafe bytes.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
    guard count == bytes.count else { throw EffectError(name: "write: errno \(errno)") }
    let keys = before.split(separator: "\n").map { $0.split(separator: " ")[1] }
    return keys.count { $0 == key }
  }
}
