// What operations gave and how they ended, as plain data. The rules are told in these terms alone:
// neither this file nor those of `Rules` know a type of the library.

/// What every operation of a tree gives.
indirect enum ShownValue: Sendable, Hashable {
  /// What a leaf or a closure gives; no two give the same.
  case number(Int)
  case list([ShownValue])
  case outcomes([ShownOutcome])
  case steps([ShownStep])
}

enum ShownOutcome: Sendable, Hashable {
  case result(ShownValue)
  case error(ShownError)
  case cancelled
}

indirect enum ShownError: Sendable, Hashable {
  /// What a leaf or a closure throws; no two throw the same.
  case failure(Int)
  /// An error of another API that means no more than "cancelled".
  case interruption(Int)
  /// The standard library's `CancellationError`.
  case cancellation
  case parallel(ShownParallelError)
  case sequential(cause: ShownError?, steps: [ShownStep])
  /// Of every attempt, and whether the last one was cancelled or never began.
  case retry([ShownError], isCancelled: Bool)
  /// Of an operation of this name.
  case timeout(String)
  /// A condition was not met.
  case skipped(String)
  /// Every condition failed of which one was to be met.
  case noneMet([ShownError])
  /// The late outcome of a child, passed on by a modifier.
  case late(ShownOutcome)
  /// Permits of these names would never have come.
  case permits([String], isHeldAbove: Bool)
  /// Anything else, which no operation of a tree should come to.
  case foreign(String)
}

/// What the error of a parallel composite or a race shows.
struct ShownParallelError: Sendable, Hashable {
  enum Origin: Sendable, Hashable { case itself, composite, neverBegan }

  struct Child: Sendable, Hashable {
    let index: Int
    let name: String
    let outcome: ShownOutcome
    let origin: Origin
  }

  let children: [Child]
  /// The places of the children that failed, the first in time first.
  let failures: [Int]
  /// The error of the source of the children.
  let source: ShownError?
  /// How the lines of the description begin that are not set in.
  let lines: [String]
}

struct ShownStep: Sendable, Hashable {
  let index: Int
  let name: String
  let outcome: ShownOutcome
}

// MARK: - In words

extension ShownValue: CustomStringConvertible {
  var description: String {
    switch self {
    case .number(let number): "\(number)"
    case .list(let values): "\(values)"
    case .outcomes(let outcomes): "outcomes \(outcomes)"
    case .steps(let steps): "steps \(steps)"
    }
  }
}

extension ShownOutcome: CustomStringConvertible {
  var description: String {
    switch self {
    case .result(let value): "result \(value)"
    case .error(let error): "error \(error)"
    case .cancelled: "cancelled"
    }
  }
}

extension ShownError: CustomStringConvertible {
  var description: String {
    switch self {
    case .failure(let number): "failure \(number)"
    case .interruption(let number): "interruption \(number)"
    case .cancellation: "CancellationError"
    case .parallel(let parallelError): "\(parallelError)"
    case .sequential(let cause, let steps):
      "sequential(cause: \(cause.map { "\($0)" } ?? "none"), steps: \(steps))"
    case .retry(let errors, let isCancelled):
      "retry(\(errors)\(isCancelled ? ", cancelled" : ""))"
    case .timeout(let name): "timeout of \(name)"
    case .skipped(let reason): "skipped, \(reason)"
    case .noneMet(let errors): "none met \(errors)"
    case .late(let outcome): "late \(outcome)"
    case .permits(let names, let isHeldAbove):
      "\(names) would never come, \(isHeldAbove ? "held above" : "circle")"
    case .foreign(let text): "foreign \(text)"
    }
  }
}

extension ShownParallelError: CustomStringConvertible {
  var description: String {
    let children = children.map { "\($0.index) \($0.name): \($0.outcome), \($0.origin)" }
    let source = source.map { ", source: \($0)" } ?? ""
    return "parallel(\(children), failures: \(failures)\(source), lines: \(lines))"
  }
}

extension ShownStep: CustomStringConvertible {
  var description: String { "\(index) \(name): \(outcome)" }
}
