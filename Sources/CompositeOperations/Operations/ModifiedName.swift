/// The name of an operation and its modifiers, such as `FetchUser.map.then`. For the engine.
///
/// Neither its length nor the time to compute it grows with the number of modifiers. Up to eight
/// modifiers are shown, and of more only the outermost one: `FetchUser.….map`. The search for the
/// operation covers 64 modifiers; if there are more, the name of the operation is left out.
@_documentation(visibility: internal)
public struct ModifiedName: Sendable {
  /// How many modifiers the search covers.
  @usableFromInline static var reach: Int { 64 }
  /// How many modifiers are shown.
  private static var shown: Int { 8 }

  /// The name of an operation with more modifiers than the search covers.
  @usableFromInline static let unknown = ModifiedName(text: "…", base: nil, count: shown)

  @usableFromInline let text: String
  /// The name of the operation itself, if it is known.
  private let base: String?
  private let count: Int

  private init(text: String, base: String?, count: Int) {
    self.text = text
    self.base = base
    self.count = count
  }

  /// Creates the name of an operation without modifiers.
  @usableFromInline init(_ name: String) { self.init(text: name, base: name, count: 0) }

  @usableFromInline func modified(by modifier: String) -> ModifiedName {
    let known = count < Self.shown ? text : (base.map { $0 + "." } ?? "") + "…"
    return ModifiedName(text: "\(known).\(modifier)", base: base, count: count + 1)
  }
}
