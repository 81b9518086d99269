/// An error that is composed of other errors and whose description contains theirs.
package protocol ErrorTreeDescribing: Error, CustomStringConvertible {
  /// The causes of the error, the first cause first.
  var branches: [ErrorBranch] { get }

  /// The description of an error without causes.
  var nothing: String { get }

  /// The consequences of the causes, one line for each kind.
  var aftermath: [String] { get }
}

/// One of the causes of an error.
package struct ErrorBranch {
  /// The label of the cause, such as the name of a child; nil if it needs none.
  package var label: String?
  package var cause: Cause

  package enum Cause {
    case error(any Error)
    case text(String)
  }
}

extension ErrorTreeDescribing {
  package var nothing: String { "cancelled" }
  package var aftermath: [String] { [] }

  // Deeper levels are of no use to a reader, and thousands of them would take too much stack and
  // time.
  public var description: String { description(levels: 64) }

  /// The description with at most `levels` levels of nested errors, and at least one.
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
    case .error(let evidence as any ErrorTreeDescribing): evidence.asEntry(belowLevels: levels)
    case .error(let error): "\(error)"
    case .text(let text): text
    }
  }
}

/// Counts children of one kind and keeps the first three for a description.
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
  /// Returns the consequences of a cause, as one line or none.
  ///
  /// - Parameters:
  ///   - cancelled: The children that were cancelled because of it.
  ///   - name: Returns the name of a child.
  ///   - unbegun: The number of children that did not begin because of it.
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

extension String {
  /// The text with every line but the first indented, as one entry of a list.
  package var withHangingLines: String {
    split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).joined(separator: "\n  ")
  }
}
