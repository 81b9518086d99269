extension Tree {
  /// The number of permits of each kind.
  static let permitCounts = [1, 2, 3]

  static func permitName(_ kind: Int) -> String { "permits \(kind)" }

  /// A request for permits of one kind.
  struct Claim: Sendable, Equatable {
    var kind: Int
    /// The number of permits; nil for all of them.
    var wanted: Int?

    var number: Int { wanted ?? Tree.permitCounts[kind] }
  }

  /// Whether an operation takes permits below an operation that takes permits.
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
