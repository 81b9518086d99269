extension Tree {
  /// A modifier and its parameters.
  enum Modifier: Sendable, Equatable {
    /// Attempts of the first child, or of the second child if a closure requests it.
    case retrying(Retrying)
    /// A recovery from an error of the first child, possibly by the other children.
    case recovering(Recovering)
    /// A closure after the child, which yields this number of times.
    case finally(yields: Int)
    case repeating(Repeating)
    case timingOut(Limit)
    /// By this number of ticks.
    case delayed(Int)
    /// By one of the rates that all nodes share.
    case throttled(rate: Int)
    case requiring(Requiring)
    /// Permits of one or two kinds.
    case taking([Claim])
  }

  struct Retrying: Sendable, Equatable {
    enum Asking: Sendable, Equatable {
      case noClosure
      /// A closure decides whether an error is worth another attempt.
      case whetherWorthwhile
      /// A closure decides by the number of the attempt, and yields before.
      case decision([Decision], yields: Int)
    }

    enum Decision: Sendable, Equatable {
      case again, another, stop, error, cancellation
      /// It throws the error that it received.
      case sameError
    }

    var attempts: Int
    var asking: Asking
    /// The minimum number of ticks before another attempt.
    var delay: Int
  }

  struct Repeating: Sendable, Equatable {
    /// The maximum number of runs; nil for any number, which requires a closure.
    var times: Int?
    /// Whether a closure decides if a result is the last one.
    var asks: Bool
    /// The minimum number of ticks before the next run.
    var delay: Int
  }

  enum Limit: Sendable, Equatable {
    case never, none, negative
    case ticks(Int)
  }

  struct Recovering: Sendable, Equatable {
    enum Way: Sendable, Equatable {
      /// By a closure that returns a value, an operation or another error.
      case value, operation, otherError
      case fallingBack, ignoring
      /// By the other children, which are alternatives, one after another. The list contains them
      /// this number of times.
      case fallingBackToList(rounds: Int)
    }

    enum Remedy: Sendable, Equatable {
      case value, error, cancellation
      /// The closure throws the error that it received.
      case sameError
    }

    var way: Way
    var remedy: Remedy
    /// How many times the closure yields.
    var yields: Int

    /// The unique value that replaces an ignored error.
    static func substitute(at node: Int) -> ShownValue { .number(-1 - node) }

    /// Whether the other children are a list of alternatives, which may be empty.
    var isList: Bool { if case .fallingBackToList = way { true } else { false } }

    /// Whether an error is discarded, because no closure receives it.
    var discardsErrors: Bool {
      switch way {
      case .fallingBack, .fallingBackToList, .ignoring: true
      case .value, .operation, .otherError: false
      }
    }

    /// The index of the operation that follows a number of failed ones; nil if they were the last.
    ///
    /// - Parameter count: The number of children.
    func fallback(after failures: Int, among count: Int) -> Int? {
      let rounds =
        switch way {
        case .fallingBack: 1
        case .fallingBackToList(let rounds): rounds
        case .value, .operation, .otherError, .ignoring: 0
        }
      return failures <= rounds * (count - 1) ? 1 + (failures - 1) % (count - 1) : nil
    }
  }
}

extension Tree.Modifier {
  /// Whether the modified operation has a run of its own, instead of being part of the run of the
  /// modifier.
  var runsItsOwn: Bool {
    switch self {
    case .retrying, .recovering, .finally, .repeating: true
    case .timingOut, .delayed, .throttled, .requiring, .taking: false
    }
  }
}

extension Tree.Modifier: CustomStringConvertible {
  var description: String {
    switch self {
    case .retrying(let retrying):
      "retrying, \(retrying.attempts) attempts, asks \(retrying.asking)\(retrying.delay.note)"
    case .finally(let yields): "finally, \(yields) yields"
    case .repeating(let repeating):
      "repeating\(repeating.times.map { ", \($0) times" } ?? "")\(repeating.asks ? ", asks" : "")"
        + repeating.delay.note
    case .timingOut(let limit): "timing out, limit \(limit)"
    case .delayed(let delay): "delayed\(delay.note)"
    case .throttled(let rate): "throttled by rate \(rate)"
    case .requiring(let requiring): "\(requiring)"
    case .taking(let claims): "taking \(claims)"
    case .recovering(let recovering):
      "recovering by \(recovering.way), \(recovering.remedy) after \(recovering.yields) yields"
    }
  }
}

extension Int {
  /// A description as a number of ticks.
  fileprivate var note: String { self == 0 ? "" : ", \(self) ticks" }
}
