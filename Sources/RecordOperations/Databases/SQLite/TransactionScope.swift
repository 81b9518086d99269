internal import CompositeOperations
internal import SQLiteSupport

/// The scope of a transaction or a savepoint: the tasks that run in it, until it ends.
///
/// A request of a task in the scope of a transaction must not wait for the end of that transaction.
final class TransactionScope: Sendable {
  /// The path of the file.
  private let path: String
  /// The enclosing transaction or savepoint; nil for the transaction itself.
  private let outer: TransactionScope?
  private let ending = Lock(false)

  /// The transactions and savepoints of this task, outermost first. The task may outlive them.
  @TaskLocal private static var entered: [TransactionScope] = []

  init(path: String) {
    self.path = path
    outer = nil
  }

  private init(savepointIn outer: TransactionScope) {
    path = outer.path
    self.outer = outer
  }

  /// Returns the scope of a new savepoint in this one.
  func savepoint() -> TransactionScope { TransactionScope(savepointIn: self) }

  /// Whether the transaction or savepoint has ended.
  var hasEnded: Bool { ending.withLock(\.self) }

  func end() { ending.withLock { $0 = true } }

  /// Runs a body in the scope.
  nonisolated(nonsending) func enter<Result>(
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async throws -> Result {
    try await Self.$entered.withValue(Self.entered + [self], operation: body)
  }

  /// Whether this task is in a savepoint of the scope that has not ended.
  var isInSavepoint: Bool { Self.entered.contains { $0.outer === self && !$0.hasEnded } }

  /// Returns whether this task is in a transaction of the file that has not ended.
  static func isInTransaction(of path: String) -> Bool {
    entered.contains {
      $0.outer == nil && !$0.hasEnded && SQLiteFile($0.path).isSame(as: SQLiteFile(path))
    }
  }
}
