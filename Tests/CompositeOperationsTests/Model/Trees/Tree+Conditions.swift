extension Tree {
  struct Requiring: Sendable, Equatable {
    enum Combination: Sendable, Equatable {
      /// All in one modifier, or each in one of its own.
      case each, stacked
      /// All in one condition.
      case all, any
      /// The first one, and any of all, the first one included.
      case firstAndAny
    }

    var conditions: [Condition]
    var combination: Combination
    /// Whether the first condition is listed again.
    var listsFirstTwice: Bool
  }

  struct Condition: Sendable, Equatable {
    enum Answer: Sendable, Equatable { case yes, no, error, cancellation, skip }

    var answer: Answer
    /// How many turns of others it waits for; nil if it cannot wait.
    var yields: Int?
    var isNegated: Bool

    static func name(_ index: Int, of node: Int) -> String { "c\(node).\(index)" }
  }
}

extension Tree.Requiring: CustomStringConvertible {
  var description: String {
    let conditions = conditions.map { condition in
      (condition.isNegated ? "not " : "") + "\(condition.answer)"
        + (condition.yields.map { " after \($0) yields" } ?? "")
    }
    return "requiring \(combination) \(conditions)\(listsFirstTwice ? ", the first one twice" : "")"
  }
}
