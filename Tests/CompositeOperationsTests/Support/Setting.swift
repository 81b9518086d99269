import CompositeOperations
import CompositeOperationsTestKit

/// A combination of how the bodies of a test behave and where they run. The rules hold for all.
struct Setting: Sendable, CustomStringConvertible {
  enum Workers: Sendable {
    /// A seeded executor.
    case one(seed: UInt64)
    /// Swift's thread pool.
    case all
  }

  let suspends: Bool
  let workers: Workers

  static let all = [false, true].flatMap { suspends in
    [Workers.all, .one(seed: 1), .one(seed: 2), .one(seed: 3)].map { workers in
      Setting(suspends: suspends, workers: workers)
    }
  }

  var description: String {
    let bodies = suspends ? "bodies that suspend" : "bodies that do not suspend"
    return switch workers {
    case .one(let seed): "\(bodies), one worker, seed \(seed)"
    case .all: "\(bodies), all workers"
    }
  }

  func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws
    -> Value
  {
    switch workers {
    case .one(let seed): try await SeededExecutor(seed: seed).run(body)
    case .all: try await body()
    }
  }

  /// Suspends the body before its work if the bodies of this setting suspend.
  func pause() async {
    if suspends { await Task.yield() }
  }

  /// Returns an operation that returns a value, after a pause if the setting has one.
  func giving<Value: Sendable>(_ value: Value) -> SimpleOperation<Value> {
    SimpleOperation {
      await pause()
      return value
    }
  }

  /// Returns an operation that throws an error.
  func failing<Value: Sendable>(
    _ error: any Error = TestError("failed"), giving type: Value.Type = Int.self
  ) -> SimpleOperation<Value> {
    SimpleOperation {
      await pause()
      throw error
    }
  }

  /// Returns an operation that cancels itself.
  func stopping<Value: Sendable>(giving type: Value.Type = Int.self) -> SimpleOperation<Value> {
    failing(CancellationError(), giving: type)
  }
}

struct TestError: Error, Equatable, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Cancels the current task, as a body can.
func cancelCurrentTask() { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
