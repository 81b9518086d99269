import SystemSupport

/// A pattern for paths as in bash with `globstar`: `*`, `?`, `[…]`, and a name `**` for any number of
/// folders. None of them matches a dot at the beginning of a name.
///
/// A character is one of UTF-8, and names in NFC and in NFD are different.
package struct GlobPattern: Hashable, Sendable {
  /// The path, if no character has a meaning; nil otherwise.
  package let path: String?
  /// The names of a pattern; empty for a path.
  let names: [[GlobElement]]
  let isAbsolute: Bool
  /// Whether the pattern ends in a slash: it matches no files.
  fileprivate let matchesFolders: Bool

  /// Returns the patterns of a text: several if it has braces.
  ///
  /// - Parameters:
  ///   - template: The text. Characters of the values have no meaning.
  ///   - values: The values of the flow.
  ///   - each: The value of the child.
  ///   - isPath: Whether no character of the text has a meaning.
  static func patterns(
    _ template: FlowTemplate, _ values: [String: String], each: String? = nil, isPath: Bool = false
  ) -> [GlobPattern] {
    if isPath || !template.isPattern {
      return [GlobPattern(path: template.text(values, each: each))]
    }
    return patterns(template, values) { $0.text([:], each: each).quotedCharacters }
  }

  /// - Parameters:
  ///   - folder: The folder of a relative path, which has no patterns.
  ///   - each: Returns the characters of the value of the child, or of a column of it.
  static func patterns(
    _ template: FlowTemplate, _ values: [String: String], in folder: FlowTemplate? = nil,
    isPath: Bool = false, each: (FlowTemplate.Part) -> [GlobCharacter]
  ) -> [GlobPattern] {
    var text = template.characters(values, isPath: isPath, each: each)
    if let folder, text.first?.isSlash != true {
      text = folder.characters(values, isPath: true, each: each) + [.quoted("/")] + text
    }
    // Bash also drops an empty alternative.
    return (text.alternatives ?? [text]).filter { !$0.isEmpty }.map { GlobPattern($0) }
  }

  fileprivate init(path: String) {
    self.path = path.normalizedPath
    names = []
    isAbsolute = path.utf8.first == UInt8(ascii: "/")
    matchesFolders = false
  }

  private init(names: [[GlobElement]], isAbsolute: Bool, matchesFolders: Bool) {
    path = nil
    (self.names, self.isAbsolute, self.matchesFolders) = (names, isAbsolute, matchesFolders)
  }

  private init(_ text: [GlobCharacter]) {
    var names = text.split(whereSeparator: \.isSlash).map { [GlobElement]($0) }
    if let path = names.map(\.literal).joinedIfComplete {
      self.init(path: text.first?.isSlash == true ? "/" + path : path)
      return
    }
    let matchesFolders = text.last?.isSlash == true || names.last == [.character(".")]
    names.removeAll { $0 == [.character(".")] }
    // At the end, it means all files below.
    if names.last == [.folders], !matchesFolders { names.append([.text]) }
    self.init(
      names: names, isAbsolute: text.first?.isSlash == true, matchesFolders: matchesFolders)
  }

  /// Returns the files and folders that match one of the patterns of a text, sorted, without duplicates.
  /// Paths are relative to the folder if their pattern is.
  ///
  /// - Throws: A ``FlowFailure`` that names a folder that cannot be read, or a name that is not UTF-8.
  package static func files(
    _ template: FlowTemplate, _ values: [String: String], in folder: String
  ) throws -> [String] {
    var found: Set<ExactText> = []
    for pattern in patterns(template, values) {
      for path in try pattern.files(in: folder) { found.insert(ExactText(path)) }
    }
    return found.sorted().map(\.text)
  }

  /// Whether it matches a folder only with all that is in it, which it also matches.
  var isRecursive: Bool { names.suffix(2) == [[.folders], [.text]] }

  /// Returns the files and folders that match, sorted.
  ///
  /// - Throws: See ``files(_:_:in:)``.
  func files(in folder: String) throws -> [String] {
    if let path { return FileTree(folder).kind(of: Array(path.utf8)) == nil ? [] : [path] }
    var search = GlobSearch(tree: FileTree(folder), matchesFolders: matchesFolders)
    try search.visit(names[...], isAbsolute ? [UInt8(ascii: "/")] : [])
    return try search.found.map { bytes in
      guard let path = String(validating: bytes, as: UTF8.self) else {
        throw FlowFailure.other(
          "the name \(ShellText.escaped(bytes, utf8: nil)) is not UTF-8; rename the file")
      }
      return path
    }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}

extension [String?] {
  /// The names of a path; nil if one is missing.
  fileprivate var joinedIfComplete: String? {
    let names = compactMap(\.self)
    return names.count == count ? names.joined(separator: "/") : nil
  }
}

/// A search for the files that match a pattern.
private struct GlobSearch {
  /// What is searched: the rest of the pattern in a folder.
  private struct Visit: Hashable {
    let name: Int
    let path: [UInt8]
  }

  let tree: FileTree
  let matchesFolders: Bool
  private(set) var found: Set<[UInt8]> = []
  private var visits: Set<Visit> = []

  init(tree: FileTree, matchesFolders: Bool) {
    (self.tree, self.matchesFolders) = (tree, matchesFolders)
  }

  mutating func visit(_ names: ArraySlice<[GlobElement]>, _ path: [UInt8]) throws {
    guard let name = names.first else {
      // Folders that `**/` matches at the end, also `a` for `a/**/`.
      if !path.isEmpty, let kind = tree.kind(of: path) { add(path, kind) }
      return
    }
    // Several `**` reach a folder in several ways.
    guard visits.insert(Visit(name: names.startIndex, path: path)).inserted else { return }
    let rest = names.dropFirst()
    if let literal = name.literal {
      let path = path.path(of: literal.utf8)
      if !rest.isEmpty { return try visit(rest, path) }
      // Folders that `**/` matches at the end, also `a` for `a/**/`.
      if !path.isEmpty, let kind = tree.kind(of: path) { add(path, kind) }
      return
    }
    if name == [.folders] { try visit(rest, path) }
    for (bytes, kind) in try tree.entries(of: path) where !bytes.elementsEqual(".flow".utf8) {
      if name == [.folders] {
        // Links are not followed, so that the search ends.
        if kind == .folder, bytes.first != UInt8(ascii: ".") {
          try visit(names, path.path(of: bytes))
        }
      } else if name.matches(
        String(decoding: bytes, as: UTF8.self).unicodeScalars.lazy.map { .character($0) })
      {
        if rest.isEmpty {
          add(path.path(of: bytes), kind)
        } else if kind != .file {
          try visit(rest, path.path(of: bytes))
        }
      }
    }
  }

  private mutating func add(_ path: [UInt8], _ kind: FileStatus.Kind) {
    if !matchesFolders {
      found.insert(path)
    } else if kind == .folder || kind == .link && tree.isFolder(path) {
      found.insert(path + [UInt8(ascii: "/")])
    }
  }
}

extension FlowUnit {
  /// The files that the step reads, with the file of the standard input.
  func inputs(_ values: [String: String]) -> [GlobPattern] {
    step.inputs.flatMap { GlobPattern.patterns($0, values, each: each) }
      + (step.standardInput.map { [GlobPattern(path: $0.text(values, each: each))] } ?? [])
  }

  func outputs(_ values: [String: String]) -> [GlobPattern] {
    step.outputs.flatMap { GlobPattern.patterns($0, values, each: each) }
  }
}
