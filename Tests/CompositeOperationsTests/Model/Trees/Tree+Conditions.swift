extension Tree {
  struct Requiring: Sendable, Equatable {
    enum Combination: Sendable, Equatable {
      /// All in one modifier, or each in a modifier of its own.
      case each, stacked
      /// Combined into one condition.
      case all, any
      /// The first condition, and `any` of all conditions, including the first.
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
    /// How many times it yields before it returns; nil if it is synchronous.
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
