internal import SystemSupport

/// An error of a step that its durable run causes, and not its operation.
public struct DurableStepError: Error, Codable, Hashable, Sendable, CustomStringConvertible {
  /// The kind of the problem. Journals store the names of its cases and values.
  public enum Reason: Codable, Hashable, Sendable {
    /// The result type with this name is neither `Codable` nor `Void`. The step has not begun.
    case notCodable(type: String)
    /// The encoded result, or value of a key, has more bytes than the limit of the store.
    case tooLarge(size: Int, limit: Int)
    /// An operation that stores its result has an empty key.
    case emptyKey
    /// The key, with those around it, is used twice in one attempt.
    case repeatedKey(key: String)
    /// More child flows than the store at this address allows in one step, as far as their number is
    /// known. None of those that were counted in advance has begun.
    case tooManyChildren(count: Int, limit: Int, store: String)
    /// The process ended during the attempt with this number, from 1.
    case interrupted(attempt: Int)
  }

  /// The name of the run.
  public let run: RunID
  /// The position of the step, from 0.
  public let step: Int
  /// The name of the step's operation.
  public let name: String
  /// The kind of the problem.
  public let reason: Reason

  /// The run, the step, the reason, and the remedy.
  public var description: String { "run \(run), step \(step), \(name): \(problem)" }

  private var problem: String {
    switch reason {
    case .notCodable(let type):
      let advice =
        type.hasPrefix("(")
        ? "name the children with `.journaled(as:)` and map the tuple to a Codable type"
        : "declare it Codable, or map the result to a Codable type"
      return "result type \(type) is not Codable; \(advice)"
    case .tooLarge(let size, let limit):
      var sizes = (size.readableBytes, limit.readableBytes)
      if sizes.0 == sizes.1 { sizes = ("\(size) bytes", "\(limit) bytes") }
      return """
        result of \(sizes.0) exceeds the limit of \(sizes.1); store it in a file or a database and \
        return its name, or raise `valueLimit` of the store and retry the run
        """
    case .emptyKey: return "a key is empty; \(Self.keyAdvice)"
    case .repeatedKey(let key):
      return "the key '\(key)' is used twice in one attempt; \(Self.keyAdvice)"
    case .tooManyChildren(let count, let limit, let store):
      return """
        \(count.grouped) child flows exceed the limit of \(limit.grouped) for \(store), because \
        claims slow down with the number of waiting runs; start them in several steps, such as \
        batches of 100 with `batched(by:)`
        """
    case .interrupted(let attempt): return "the process ended during attempt \(attempt)"
    }
  }

  private static let keyAdvice = """
    give each operation that stores its result a key of its own, with `.journaled(as:)`, and each \
    sleep and each child flow a name
    """
}

extension StepInProgress {
  /// An error of this step.
  func error(_ reason: DurableStepError.Reason) -> DurableStepError {
    DurableStepError(run: session.run, step: position, name: name, reason: reason)
  }
}

extension Int {
  /// A number of bytes, in the largest unit with a value of at least 1.
  fileprivate var readableBytes: String {
    for (unit, size) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] where self >= size {
      let tenths = (self * 10 + size / 2) / size
      return tenths % 10 == 0 ? "\(tenths / 10) \(unit)" : "\(tenths / 10).\(tenths % 10) \(unit)"
    }
    return "\(self) bytes"
  }
}
