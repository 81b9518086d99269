/// The names from the outermost run down to one run: `Sync/ParallelOperation/FetchIssues`.
///
/// A path is a link to its parent's, so it costs nothing to take along; the names are collected
/// when they are asked for.
public struct OperationPath: Sendable, CustomStringConvertible {
  private let scope: OperationScope?

  init(to scope: OperationScope?) { self.scope = scope }

  /// The names, the outermost first; empty for a run that nobody observes.
  ///
  /// - Complexity: O(*depth*).
  public var names: [String] {
    var names: [String] = []
    var scope = scope
    while let here = scope {
      names.append(here.name)
      scope = here.parent
    }
    return names.reversed()
  }

  public var description: String { names.joined(separator: "/") }
}
