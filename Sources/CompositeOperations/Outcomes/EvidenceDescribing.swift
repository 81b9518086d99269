/// An error that is made of other errors, and whose description holds theirs.
protocol EvidenceDescribing: Error, CustomStringConvertible {
  /// What it is made of, the first cause first.
  var branches: [ErrorBranch] { get }

  /// What it says where it is made of nothing.
  var nothing: String { get }

  /// What followed from the causes: a line for each kind of it.
  var aftermath: [String] { get }
}

/// One of the causes of an error.
struct ErrorBranch {
  /// Whose it is; nil if that is clear.
  var label: String?
  var cause: Cause

  enum Cause {
    case error(any Error)
    case text(String)
  }
}

extension EvidenceDescribing {
  var nothing: String { "cancelled" }
  var aftermath: [String] { [] }

  // Nobody reads on behind that, and thousands of levels would take the stack and the time of all of
  // them together.
  public var description: String { description(levels: 64) }

  /// The description down to so many levels of errors within errors; at least one.
  private func description(levels: Int) -> String {
    let lines = branches.map { branch in
      (branch.label.map { $0 + ": " } ?? "") + branch.cause.description(belowLevels: levels)
    }
    if lines.isEmpty { return nothing }
    return lines.map(\.withHangingLines).joined(separator: "\n")
  }

  fileprivate func asEntry(belowLevels levels: Int) -> String {
    levels > 1 ? description(levels: levels - 1) : "…"
  }
}

extension ErrorBranch.Cause {
  fileprivate func description(belowLevels levels: Int) -> String {
    switch self {
    case .error(let evidence as any EvidenceDescribing): evidence.asEntry(belowLevels: levels)
    case .error(let error): "\(error)"
    case .text(let text): text
    }
  }
}

/// Counts children of one kind and keeps the first three, which a description names.
struct Examples {
  private(set) var count = 0
  private var first: [Int] = []

  mutating func add(_ index: Int) {
    count += 1
    if first.count < 3 { first.append(index) }
  }

  /// The names of the first three, followed by "…" if there are more.
  func list(named name: (Int) -> String) -> String {
    first.map(name).joined(separator: ", ") + (count > first.count ? ", …" : "")
  }
}

extension [String] {
  /// What followed from a cause, as one line or none.
  ///
  /// - Parameters:
  ///   - cancelled: The children that were cancelled because of it.
  ///   - name: Returns the name of a child.
  ///   - unbegun: How many did not begin because of it.
  static func aftermath(
    of cancelled: Examples, named name: (Int) -> String, unbegun: Int
  ) -> [String] {
    var parts: [String] = []
    if cancelled.count > 0 {
      let (count, names) = (cancelled.count, cancelled.list(named: name))
      parts.append("\(count) \(count == 1 ? "was" : "were") cancelled (\(names))")
    }
    if unbegun > 0 { parts.append("\(unbegun) never began") }
    return parts.isEmpty ? [] : ["as a result, " + parts.joined(separator: " and ")]
  }
}
