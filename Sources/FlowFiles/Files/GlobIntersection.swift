/// Whether two patterns can match the same file, or one of them a folder with a file of the other.
struct GlobIntersection {
  /// The part that both patterns have matched so far.
  private struct State: Hashable {
    var one: Int
    var other: Int
    /// Whether a name begins here.
    var isStart: Bool
  }

  private let one: [GlobElement]
  private let other: [GlobElement]
  /// Whether the unknown value of a child can be any text, and a match of a folder is enough.
  private let isLenient: Bool

  private init(_ one: [GlobElement], _ other: [GlobElement], isLenient: Bool) {
    (self.one, self.other, self.isLenient) = (one, other, isLenient)
  }

  /// Returns whether both match the same file; nil if that depends on the values of children or on sets of characters
  /// outside of ASCII, and if one only matches a folder of what the other matches.
  ///
  /// - Complexity: O(*n* · *m*).
  static func exists(_ one: [GlobElement], _ other: [GlobElement]) -> Bool? {
    if GlobIntersection(one, other, isLenient: false).isReached { return true }
    return GlobIntersection(one, other, isLenient: true).isReached ? nil : false
  }

  private var isReached: Bool {
    var pending = [State(one: 0, other: 0, isStart: true)]
    var seen = Set(pending)
    while let state = pending.popLast() {
      if isEnd(state) { return true }
      for next in successors(of: state) where seen.insert(next).inserted { pending.append(next) }
    }
    return false
  }

  private func isEnd(_ state: State) -> Bool {
    // A folder that a pattern matches means all files below it.
    switch (state.one == one.count, state.other == other.count) {
    case (true, true): true
    case (true, false): isLenient && !state.isStart && other[state.other].matchesSlash(true)
    case (false, true): isLenient && !state.isStart && one[state.one].matchesSlash(true)
    case (false, false): false
    }
  }

  private func successors(of state: State) -> [State] {
    var states: [State] = []
    var skipped = state
    if state.one < one.count, one[state.one].matchesNothing(state.isStart, isLenient) {
      skipped.one += 1
      states.append(skipped)
    }
    skipped = state
    if state.other < other.count, other[state.other].matchesNothing(state.isStart, isLenient) {
      skipped.other += 1
      states.append(skipped)
    }
    guard state.one < one.count, state.other < other.count else { return states }
    let (first, second) = (one[state.one], other[state.other])
    for isSlash in [false, true] where !(isSlash && state.isStart) {
      guard
        first.matches(sameAs: second, isSlash: isSlash, isStart: state.isStart, isLenient)
      else { continue }
      states.append(
        State(
          one: state.one + (first.isRepeated(isLenient) ? 0 : 1),
          other: state.other + (second.isRepeated(isLenient) ? 0 : 1), isStart: isSlash))
    }
    return states
  }
}

extension GlobElement {
  fileprivate func matchesSlash(_ anyUnknown: Bool) -> Bool {
    switch self {
    case .character(let own): own == "/"
    case .folders: true
    case .unknown: anyUnknown
    case .any, .set, .text: false
    }
  }

  fileprivate func matchesNothing(_ isStart: Bool, _ anyUnknown: Bool) -> Bool {
    self == .folders ? isStart : isRepeated(anyUnknown)
  }

  /// Whether both elements match one and the same character.
  ///
  /// - Parameters:
  ///   - isSlash: Whether the character is a slash, or any other one.
  ///   - isStart: Whether the character begins a name.
  fileprivate func matches(
    sameAs other: GlobElement, isSlash: Bool, isStart: Bool, _ anyUnknown: Bool
  ) -> Bool {
    if isSlash { return matchesSlash(anyUnknown) && other.matchesSlash(anyUnknown) }
    switch (self, other) {
    case (.character(let own), _):
      return own != "/" && other.contains(own, isStart: isStart, anyUnknown)
    case (_, .character(let own)):
      return own != "/" && contains(own, isStart: isStart, anyUnknown)
    case (.unknown, .unknown): return anyUnknown || self == other
    // Every text of the child, without knowing it.
    case (.unknown, .text), (.text, .unknown), (.unknown, .folders), (.folders, .unknown):
      return true
    case (.unknown, _), (_, .unknown): return anyUnknown
    case (.set, _), (_, .set):
      // A character outside of ASCII cannot be searched for.
      return anyUnknown
        || Self.ascii.contains {
          contains($0, isStart: isStart, false) && other.contains($0, isStart: isStart, false)
        }
    case (.any, _), (.text, _), (.folders, _): return true
    }
  }

  private static let ascii = (UInt8(0x20)..<0x7F).map { Unicode.Scalar($0) }.filter { $0 != "/" }

  private func contains(_ scalar: Unicode.Scalar, isStart: Bool, _ anyUnknown: Bool) -> Bool {
    switch self {
    case .character(let own): own == scalar
    case .unknown: anyUnknown
    case .any, .text, .folders: !(isStart && scalar == ".")
    case .set(let set): !(isStart && scalar == ".") && set.contains(scalar)
    }
  }
}
