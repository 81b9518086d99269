import SystemSupport

/// A pattern for paths: `*` matches any characters of a name, and a component `**` any number of
/// folders. Neither matches a name that begins with a dot, unless the pattern has the dot.
struct GlobPattern: Hashable, Sendable {
  private enum Component: Hashable, Sendable {
    case name(String)
    /// The texts between the asterisks.
    case pattern([[UInt8]])
    case folders
  }

  /// The path, if the pattern has no asterisk that matches something; nil otherwise.
  let path: String?
  /// The names of a pattern; empty for a path.
  private let components: [Component]
  private let isAbsolute: Bool

  /// - Parameters:
  ///   - template: The pattern. Asterisks in the values stand for themselves.
  ///   - values: The values of the flow.
  ///   - each: The value of the child.
  init(_ template: FlowTemplate, _ values: [String: String], each: String? = nil) {
    let path = template.text(values, each: each)
    isAbsolute = path.utf8.first == UInt8(ascii: "/")
    guard path.utf8.contains(UInt8(ascii: "*")), template.hasAsterisk else {
      self.path = path.normalizedPath
      components = []
      return
    }
    self.path = nil
    // No value contains U+0000.
    func literal(_ text: String) -> String { text.replacing("*", with: "\0") }
    let text = template.parts.map { part in
      switch part {
      case .text(let text): text
      case .value, .each, .column: literal(part.text(values, each: each))
      }
    }.joined()
    components = text.split(separator: "/").filter { $0 != "." }.map { part in
      if part == "**" { return .folders }
      guard part.contains("*") else { return .name(String(part).replacing("\0", with: "*")) }
      let texts = part.split(separator: "*", omittingEmptySubsequences: false)
      return .pattern(texts.map { Array($0.replacing("\0", with: "*").utf8) })
    }
  }

  /// Returns the files that match, sorted. Paths are relative to the folder if the pattern is.
  ///
  /// Folders do not match. A folder that cannot be read has no files.
  func files(in folder: String) -> [String] {
    if let path {
      let full = isAbsolute ? path : folder.path(of: path)
      return (try? FileStatus(ofFile: full)) == nil ? [] : [path]
    }
    var found: Set<String> = []
    search(components[...], isAbsolute ? "/" : "", folder) { found.insert($0) }
    return found.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  private func search(
    _ rest: ArraySlice<Component>, _ path: String, _ folder: String, _ body: (String) -> Void
  ) {
    guard let first = rest.first else { return }
    let after = rest.dropFirst()
    func child(_ name: String) -> String {
      path.isEmpty ? name : path == "/" ? "/" + name : "\(path)/\(name)"
    }
    func full(_ path: String) -> String {
      path.hasPrefix("/") ? path : path.isEmpty ? folder : folder.path(of: path)
    }
    switch first {
    case .name(let name):
      let path = child(name)
      if !after.isEmpty { return search(after, path, folder, body) }
      if let status = try? FileStatus(ofFile: full(path)), status.kind != .folder { body(path) }
    case .pattern(let texts):
      forEachName(in: full(path)) { name, bytes, kind in
        guard bytes.matches(texts) else { return }
        let path = child(name)
        if !after.isEmpty {
          if kind != .file { search(after, path, folder, body) }
        } else if kind == .file || (try? FileStatus(ofFile: full(path)))?.kind == .file {
          body(path)
        }
      }
    case .folders:
      if after.isEmpty {
        // The last component: all files below the folder.
        search([.folders, .pattern([[], []])], path, folder, body)
        return
      }
      search(after, path, folder, body)
      forEachName(in: full(path)) { name, bytes, kind in
        // Links are not followed, so that the search ends.
        if kind == .folder, bytes.first != UInt8(ascii: ".") {
          search(rest, child(name), folder, body)
        }
      }
    }
  }

  private func forEachName(
    in folder: String, _ body: (String, [UInt8], FileStatus.Kind) -> Void
  ) {
    guard let open = try? OpenFolder(folder, followingLink: true) else { return }
    defer { open.close() }
    try? open.forEachName { name, kind in
      // A path that is not UTF-8 cannot be the value of a variable in a flow file.
      guard let text = name.exactText else { return }
      guard let kind = kind ?? (try? open.status(of: name))?.kind else { return }
      body(text, Array(name.utf8), kind)
    }
  }
}

extension FlowUnit {
  func inputs(_ values: [String: String]) -> [GlobPattern] {
    step.inputs.map { GlobPattern($0, values, each: each) }
  }

  func outputs(_ values: [String: String]) -> [GlobPattern] {
    step.outputs.map { GlobPattern($0, values, each: each) }
  }
}

extension FlowTemplate {
  /// Whether the text has an asterisk outside of the values.
  fileprivate var hasAsterisk: Bool {
    parts.contains { part in
      switch part {
      case .text(let text): text.utf8.contains(UInt8(ascii: "*"))
      case .value, .each, .column: false
      }
    }
  }
}

extension [UInt8] {
  /// Whether the name has the texts in order, with any characters between them.
  fileprivate func matches(_ texts: [[UInt8]]) -> Bool {
    guard let first = texts.first, let last = texts.last, texts.count > 1 else { return false }
    let dot = UInt8(ascii: ".")
    if self.first == dot, first.first != dot { return false }
    guard count >= first.count + last.count, starts(with: first), suffix(last.count) == last[...]
    else { return false }
    var rest = self[first.count..<(count - last.count)]
    for text in texts.dropFirst().dropLast() where !text.isEmpty {
      guard let range = rest.firstRange(of: text) else { return false }
      rest = rest[range.upperBound...]
    }
    return true
  }
}
