import CompositeOperations
import CompositeOperationsTestKit

/// A value that has to be closed exactly once.
struct Token: Sendable, Equatable {
  let number: Int

  /// A token that need not be closed.
  static let untracked = Token(number: -1)
}

/// What has happened to each token of a program.
final class Ledger: Sendable {
  private struct Entry {
    /// What received it, in order: a closure, a sequence, a consumer or a body.
    var receivers: [String] = []
    var isDelivered = false
    var discards = 0
  }

  private let entries = Lock<[Entry]>([])

  func open() -> Token {
    entries.withLock { entries in
      entries.append(Entry())
      return Token(number: entries.count - 1)
    }
  }

  func discard(_ token: Token) {
    if token == .untracked { return }
    entries.withLock { $0[token.number].discards += 1 }
  }

  /// Code of the program receives whatever is inside a value.
  func receive(_ value: Any, as receiver: String) {
    for token in tokens(in: value) {
      entries.withLock { $0[token.number].receivers.append(receiver) }
    }
  }

  /// The caller receives the outcome.
  func deliver(_ value: Any) {
    for token in tokens(in: value) { entries.withLock { $0[token.number].isDelivered = true } }
  }

  /// O3: the tokens without an owner, or with more than one.
  var findings: [String] {
    entries.withLock { entries in
      entries.enumerated().compactMap { number, entry in
        let isOwned = entry.isDelivered || !entry.receivers.isEmpty
        if entry.discards == (isOwned ? 0 : 1) { return nil }
        return "token \(number) was discarded \(entry.discards) times, received by "
          + "\(entry.receivers)\(entry.isDelivered ? " and delivered" : "")"
      }
    }
  }

  var counts: (all: Int, discarded: Int, received: Int, delivered: Int) {
    entries.withLock { entries in
      (
        entries.count, entries.count { $0.discards > 0 }, entries.count { !$0.receivers.isEmpty },
        entries.count { $0.isDelivered }
      )
    }
  }
}

/// The tokens in a result, an error or an outcome.
private func tokens(in value: Any) -> [Token] {
  switch value {
  case let token as Token: return token == .untracked ? [] : [token]
  case let steps as FinishedSteps: return steps.flatMap { tokens(in: $0.outcome) }
  case let step as FinishedStep: return tokens(in: step.outcome)
  case let error as ParallelOperationError: return error.children.flatMap { tokens(in: $0.outcome) }
  case let error as SequentialOperationError:
    return tokens(in: error.steps) + (error.cause.map { tokens(in: $0) } ?? [])
  case let error as OperationGraphError: return error.nodes.flatMap { tokens(in: $0.outcome) }
  case let error as RetryError: return error.errors.flatMap { tokens(in: $0) }
  default: return Mirror(reflecting: value).children.flatMap { tokens(in: $0.value) }
  }
}
