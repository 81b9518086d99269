/// The names from the outermost run down to one run: `Sync/ParallelOperation/FetchIssues`.
///
/// A path is a reference to a chain of runs, so copying it is cheap. ``names`` collects the names
/// when it is called.
public struct OperationPath: Sendable, CustomStringConvertible {
  let place: OperationPlace?

  /// The names, the outermost first; empty for a run without observers.
  ///
  /// - Complexity: O(*depth*).
  public var names: [String] {
    var names: [String] = []
    var place = place
    while let here = place {
      names.append(here.name)
      place = here.parent
    }
    return names.reversed()
  }

  /// The names, separated by slashes. A path of more than 64 names shows the first 32, the number
  /// of names left out, and the last 32.
  public var description: String {
    let names = names
    let half = 32
    if names.count <= 2 * half { return names.joined(separator: "/") }
    let leftOut = ["… \(names.count - 2 * half) more …"]
    return (names.prefix(half) + leftOut + names.suffix(half)).joined(separator: "/")
  }
}

/// The identity and the name of a run, and its parent.
///
/// Separate from the scope, which holds the observers: an observer that stores events would
/// otherwise retain itself.
// Unchecked, because `renew` changes it while the caller has the only reference. The properties are
// in one, whose exclusivity is not checked at run time: each check takes 90 instructions.
@safe package final class OperationPlace: @unchecked Sendable {
  private struct Content {
    var id: OperationID
    var name: String
    var attempt: Int32
    var share: ProgressShare
  }

  @exclusivity(unchecked) private var content: Content
  package let parent: OperationPlace?
  /// The link of the environment of the run; nil for runs whose trace is in this process only.
  package let link: TraceLink?

  package var id: OperationID { unsafe content.id }
  package var name: String { unsafe content.name }
  /// The number of the attempt that the run is, from 1.
  package var attempt: Int { unsafe Int(content.attempt) }
  package var share: ProgressShare { unsafe content.share }

  init(
    of id: OperationID, below parent: OperationPlace?, name: String, attempt: Int = 1,
    share: ProgressShare = ProgressShare(), link: TraceLink? = nil
  ) {
    self.parent = parent
    self.link = link
    unsafe content = Content(
      id: id, name: name, attempt: Int32(clamping: attempt), share: share)
  }

  /// Makes this the place of another run with the same parent. If it has other references, such as
  /// those of events that an observer keeps, a new place replaces it.
  ///
  /// - Parameters:
  ///   - id: The identity of the run.
  ///   - name: The name of its operation, which is not a modifier.
  static func renew(_ place: inout OperationPlace?, of id: OperationID, name: String) {
    if isKnownUniquelyReferenced(&place) {
      unsafe place?.content = Content(id: id, name: name, attempt: 1, share: ProgressShare())
    } else if let other = place {
      place = OperationPlace(of: id, below: other.parent, name: name, link: other.link)
    }
  }
}

/// How a run contributes to the progress of its parent, how a child contributes to the run's own
/// progress, and whether counts by name include the run.
package struct ProgressShare: Sendable {
  /// The weight of the run among the children of its parent.
  // A `Double` would make `OperationPlace` larger.
  package var weight: Float = 1
  /// Whether its progress is its child's, because it is a modifier that runs one operation, once at
  /// a time, and ends as that operation does.
  package var isThatOfChild = false
  /// Whether it is the run of a modifier with the name of the operation that it runs as a child.
  /// Counts of runs by name exclude it.
  package var isOfModifier = false
}
