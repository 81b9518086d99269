extension Tree {
  /// How many permits of each kind a tree has.
  static let permitCounts = [1, 2, 3]

  static func permitName(_ kind: Int) -> String { "permits \(kind)" }

  /// Some of the permits of one kind.
  struct Claim: Sendable, Equatable {
    var kind: Int
    /// Nil for all of them.
    var wanted: Int?

    var number: Int { wanted ?? Tree.permitCounts[kind] }
  }

  /// Whether permits are taken somewhere below where permits are held.
  var nestsPermits: Bool {
    if case .modified(.taking, let children) = kind {
      return children.contains { $0.takes }
    }
    return children.contains { $0.nestsPermits }
  }

  private var takes: Bool {
    if case .modified(.taking, _) = kind { true } else { children.contains { $0.takes } }
  }
}

extension Tree.Claim: CustomStringConvertible {
  var description: String { "\(number) of \(Tree.permitName(kind))" }
}
