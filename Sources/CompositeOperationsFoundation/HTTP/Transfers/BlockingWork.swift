internal import Foundation

/// What keeps a thread waiting, on a thread that is not of those that tasks run on.
enum BlockingWork {
  static func run<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { waiter in
      DispatchQueue.global().async { waiter.resume(with: Result(catching: body)) }
    }
  }
}
