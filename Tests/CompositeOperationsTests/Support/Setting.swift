import CompositeOperations
import CompositeOperationsTestKit

/// How a test's bodies behave and where they run: the rules hold for all of it.
struct Setting: Sendable, CustomStringConvertible {
  enum Workers: Sendable {
    /// A seeded executor.
    case one(seed: UInt64)
    /// Swift's own thread pool.
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

  /// What a body of this setting does before its work.
  func pause() async {
    if suspends { await Task.yield() }
  }

  /// An operation that gives a value, after a pause if the setting has one.
  func giving<Value: Sendable>(_ value: Value) -> SimpleOperation<Value> {
    SimpleOperation {
      await pause()
      return value
    }
  }

  /// An operation that fails.
  func failing<Value: Sendable>(
    _ error: any Error = TestError("failed"), giving type: Value.Type = Int.self
  ) -> SimpleOperation<Value> {
    SimpleOperation {
      await pause()
      throw error
    }
  }

  /// An operation that stops by itself, without an error.
  func stopping<Value: Sendable>(giving type: Value.Type = Int.self) -> SimpleOperation<Value> {
    failing(CancellationError(), giving: type)
  }
}

struct TestError: Error, Equatable, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Cancels the current task from inside, as a body can.
func cancelCurrentTask() { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
