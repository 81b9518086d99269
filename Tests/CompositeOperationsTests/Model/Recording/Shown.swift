// Results and outcomes as plain data. The oracle uses only these types: neither this file nor the
// files of `Oracle` use the library.

/// The result of every operation of a tree.
indirect enum ShownValue: Sendable, Hashable {
  /// A unique result of a leaf or a closure.
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
  /// A unique error of a leaf or a closure.
  case failure(Int)
  /// An error of another API that represents a cancellation.
  case interruption(Int)
  /// The standard library's `CancellationError`.
  case cancellation
  case parallel(ShownParallelError)
  case sequential(cause: ShownError?, steps: [ShownStep])
  /// The errors of all attempts, and whether the last one was cancelled or never began.
  case retry([ShownError], isCancelled: Bool)
  /// With the name of the operation.
  case timeout(String)
  /// A condition was not met, for this reason.
  case skipped(String)
  /// Every condition of `any` failed.
  case noneMet([ShownError])
  /// The late outcome of a child, passed on by a modifier.
  case late(ShownOutcome)
  /// A request for permits with these names was refused as a deadlock.
  case permits([String], isHeldAbove: Bool)
  /// Any other error, which no operation of a tree should end in.
  case foreign(String)
}

/// The contents of the error of a parallel composite or a race.
struct ShownParallelError: Sendable, Hashable {
  enum Origin: Sendable, Hashable { case itself, composite, neverBegan }

  struct Child: Sendable, Hashable {
    let index: Int
    let name: String
    let outcome: ShownOutcome
    let origin: Origin
  }

  let children: [Child]
  /// The indices of the children that failed, in order of time.
  let failures: [Int]
  /// The error of the source of the children.
  let source: ShownError?
  /// The beginning of every line of the description that is not indented.
  let lines: [String]
}

struct ShownStep: Sendable, Hashable {
  let index: Int
  let name: String
  let outcome: ShownOutcome
}

// MARK: - Descriptions

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
      "deadlock on \(names), \(isHeldAbove ? "held by an ancestor" : "cycle")"
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
