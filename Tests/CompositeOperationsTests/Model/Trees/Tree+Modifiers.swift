extension Tree {
  /// What a modifier does with what is below it.
  enum Modifier: Sendable, Equatable {
    /// Attempts of the first child, and of the second where a closure wants that in its place.
    case retrying(Retrying)
    /// After an error of the first child something else, maybe the second child.
    case recovering(Recovering)
    /// A closure after the child, which takes so many turns of others.
    case finally(yields: Int)
    case repeating(Repeating)
    case timingOut(Limit)
    /// By so many moments.
    case delayed(Int)
    /// To one of the rates that all nodes share.
    case throttled(rate: Int)
    case requiring(Requiring)
    /// Of one kind of permits or of two.
    case taking([Claim])
  }

  struct Retrying: Sendable, Equatable {
    enum Asking: Sendable, Equatable {
      case noClosure
      /// A closure says whether an error is worth another attempt.
      case whetherWorthwhile
      /// A closure decides, the same way for the same attempt, and takes so many turns of others.
      case decision([Decision], yields: Int)
    }

    enum Decision: Sendable, Equatable {
      case again, another, stop, error, cancellation
      /// It throws the error that it was told of.
      case sameError
    }

    var attempts: Int
    var asking: Asking
    /// How many moments there are at least before another attempt.
    var delay: Int
  }

  struct Repeating: Sendable, Equatable {
    /// Nil for any number of times; then a closure says when it is over.
    var times: Int?
    /// Whether a closure is asked if a result is the last one.
    var asks: Bool
    /// How many moments there are at least before the next time.
    var delay: Int
  }

  enum Limit: Sendable, Equatable {
    case never, none, negative
    case ticks(Int)
  }

  struct Recovering: Sendable, Equatable {
    enum Way: Sendable, Equatable {
      /// By a closure that makes a value, an operation or another error.
      case value, operation, otherError
      case fallingBack, ignoring
    }

    enum Remedy: Sendable, Equatable {
      case value, error, cancellation
      /// The closure throws the error that it was told of.
      case sameError
    }

    var way: Way
    var remedy: Remedy
    /// How many turns of others the closure takes.
    var yields: Int

    /// The value in place of errors that are ignored, which nobody else gives.
    static func substitute(at node: Int) -> ShownValue { .number(-1 - node) }
  }
}

extension Tree.Modifier {
  /// Whether what it modifies has runs of its own, and is not part of the modifier's.
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
  /// In words, as a number of moments.
  fileprivate var note: String { self == 0 ? "" : ", \(self) ticks" }
}
