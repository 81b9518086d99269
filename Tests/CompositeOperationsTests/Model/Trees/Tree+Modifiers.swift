extension Tree {
  /// What a modifier does with what is below it.
  enum Modifier: Sendable, Equatable {
    /// Attempts of the first child, and of the second where a closure wants that in its place.
    case retrying(Retrying)
  }

  struct Retrying: Sendable, Equatable {
    enum Asking: Sendable, Equatable {
      case nobody
      /// A closure says whether an error is worth another attempt.
      case whetherWorthwhile
      /// A closure decides, the same way for the same attempt, and takes so many turns of others.
      case decision([Decision], turns: Int)
    }

    enum Decision: Sendable, Equatable {
      case again, another, stop, error, cancellation
      /// It throws the error that it was told of.
      case sameError
    }

    var attempts: Int
    var asking: Asking
  }
}

extension Tree.Modifier: CustomStringConvertible {
  var description: String {
    switch self {
    case .retrying(let retrying): "retrying, \(retrying.attempts) attempts, asks \(retrying.asking)"
    }
  }
}
