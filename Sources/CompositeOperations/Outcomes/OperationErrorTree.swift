/// A description of an error as a tree of failures, their causes and their consequences.
///
/// ```swift
/// if let error = await sync.run().error { print(OperationErrorTree(error)) }
/// ```
///
/// ```text
/// ParallelOperationError
/// ├─ [3] FetchIssues: RetryError
/// │  ├─ attempt 1: the connection was lost
/// │  └─ attempt 2: HTTP 500
/// ├─ [5] FetchIssues: HTTP 404
/// └─ as a result, 2 were cancelled ([0] FetchIssues, [1] FetchIssues) and 17 never began
/// ```
///
/// The first cause is listed first.
public struct OperationErrorTree: Sendable, CustomStringConvertible {
  private let error: any Error

  /// Creates a tree of an error.
  ///
  /// - Parameter error: Any error; errors of composites have branches.
  public init(_ error: any Error) { self.error = error }

  public var description: String { lines(of: error, levels: 64).joined(separator: "\n") }

  /// The lines of a text, at least one.
  private static func lines(of text: String) -> [String] {
    text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
  }

  /// The lines of an error, with at most `levels` levels of nested errors.
  private func lines(of error: any Error, levels: Int) -> [String] {
    guard let evidence = error as? any ErrorTreeDescribing else {
      return Self.lines(of: "\(error)")
    }
    if levels == 0 { return ["…"] }
    let branches = evidence.branches
    var entries = branches.map { branch in
      var entry =
        switch branch.cause {
        case .error(let error): lines(of: error, levels: levels - 1)
        case .text(let text): Self.lines(of: text)
        }
      guard let label = branch.label.map(Self.lines), let last = label.last else { return entry }
      entry[0] = "\(last): \(entry[0])"
      return label.dropLast() + entry
    }
    if entries.isEmpty { entries = [[evidence.nothing]] }
    entries += evidence.aftermath.map { [$0] }
    let last = entries.count - 1
    return ["\(type(of: error))"]
      + entries.enumerated().flatMap { index, entry in
        entry.enumerated().map { line, text in
          let isLast = index == last
          return (line == 0 ? (isLast ? "└─ " : "├─ ") : (isLast ? "   " : "│  ")) + text
        }
      }
  }
}
