/// A part of a pattern.
enum GlobElement: Hashable, Sendable {
  case character(Unicode.Scalar)
  /// `?`
  case any
  case set(GlobSet)
  /// `*`: any characters of a name.
  case text
  /// `**/`: any number of folders.
  case folders
  /// The value of a child that is not known yet, with the step that provides it.
  case unknown(String)

  /// Whether it matches any number of elements.
  func isRepeated(_ anyUnknown: Bool) -> Bool {
    switch self {
    case .text, .folders: true
    case .unknown: anyUnknown
    case .character, .any, .set: false
    }
  }

  /// Whether it matches an element of a text.
  ///
  /// - Parameter isHidden: Whether the other element is a dot that begins a name.
  fileprivate func matches(_ other: GlobElement, isHidden: Bool, _ anyUnknown: Bool) -> Bool {
    switch self {
    case .character(let own):
      return if case .character(let scalar) = other { own == scalar } else { false }
    case .unknown: return anyUnknown || self == other
    case .any, .set, .text, .folders: if isHidden { return false }
    }
    if case .folders = self { return true }
    switch other {
    case .character("/"), .folders: return false
    case .character(let scalar):
      return if case .set(let set) = self { set.contains(scalar) } else { true }
    case .any, .set: return self == .text || self == .any || self == other
    case .text, .unknown: return self == .text
    }
  }
}

extension [GlobElement] {
  /// Parses the characters of a name.
  init(_ name: ArraySlice<GlobCharacter>) {
    self = []
    if name.elementsEqual([.plain("*"), .plain("*")]) {
      self = [.folders]
      return
    }
    var rest = name
    while let first = rest.first {
      if first == .plain("["), let set = GlobSet(removingFrom: &rest) {
        append(.set(set))
        continue
      }
      rest = rest.dropFirst()
      switch first {
      case .plain("*"): if last != .text { append(.text) }
      case .plain("?"): append(.any)
      case .plain(let scalar), .quoted(let scalar): append(.character(scalar))
      case .unknown(let step): append(.unknown(step))
      }
    }
  }

  /// The text, if no element has a meaning.
  var literal: String? {
    var text = ""
    for element in self {
      guard case .character(let scalar) = element else { return nil }
      text.unicodeScalars.append(scalar)
    }
    return text
  }

  /// Whether the last characters differ, so that the pattern does not match the text.
  func differsAtEnd(from text: [GlobElement]) -> Bool {
    guard case .character(let own)? = last, case .character(let other)? = text.last else {
      return false
    }
    return own != other
  }

  private func beginsName(at index: Int) -> Bool {
    if index == 0 { return true }
    switch self[index - 1] {
    case .character("/"), .folders, .unknown: return true
    case .character, .any, .set, .text: return false
    }
  }

  /// Returns whether the pattern matches a path or a folder of it, or all paths that another pattern
  /// matches. The latter is not found for each pair of patterns.
  ///
  /// - Parameter anyUnknown: Whether the unknown value of a child can be any text.
  /// - Complexity: O(*n* · *m*).
  func matches(_ text: some Sequence<GlobElement>, anyUnknown: Bool = false) -> Bool {
    // Whether the elements before an index match the text so far.
    var states = [Bool](repeating: false, count: count + 1)
    var next = states
    var isStart = true
    func skipRepeated(_ states: inout [Bool]) {
      for index in indices where states[index] && self[index].isRepeated(anyUnknown) {
        if isStart || self[index] != .folders { states[index + 1] = true }
      }
    }
    states[0] = true
    skipRepeated(&states)
    for other in text {
      if states[count], other == .character("/") { return true }
      let isHidden = isStart && other == .character(".")
      for index in indices where states[index] && (!isHidden || beginsName(at: index)) {
        if self[index].matches(other, isHidden: isHidden, anyUnknown) {
          next[index + (self[index].isRepeated(anyUnknown) ? 0 : 1)] = true
        }
      }
      isStart = other == .character("/") || other == .folders
      skipRepeated(&next)
      swap(&states, &next)
      for index in next.indices { next[index] = false }
    }
    return states[count]
  }
}
