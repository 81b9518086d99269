internal import SystemSupport

/// A path or a pattern of a step as the checks compare it: absolute, without `.` and `..`.
struct FlowPath: Hashable {
  /// Each name after a slash; empty for the root. Of a pattern, the names before the first special one.
  let folder: ExactText
  /// The last name; empty for a pattern and for the root.
  let name: ExactText
  /// The rest of a pattern; empty for a path.
  var rest: [GlobElement] = []

  /// - Parameter path: See ``folder``.
  init(_ path: String) {
    let (folder, name) = path.lastName
    self.init(folder, name)
  }

  init(_ folder: String, _ name: String) {
    (self.folder, self.name) = (ExactText(folder), ExactText(name))
  }

  /// - Parameter folder: See ``folder``.
  init(_ folder: String, _ rest: [GlobElement]) {
    (self.folder, name, self.rest) = (ExactText(folder), ExactText(""), rest)
  }

  /// The elements after some of the names.
  func elements(after count: Int) -> [GlobElement] {
    var texts = folder.pathNames.dropFirst(count).map(\.elements)
    if !name.text.isEmpty { texts.append(name.elements) }
    return Array(texts.joined(separator: [.character("/")]))
      + (rest.isEmpty || texts.isEmpty ? rest : [.character("/")] + rest)
  }
}

extension ExactText {
  /// The longest path that is compared, in bytes. It is the limit of Linux.
  fileprivate static let mostBytes = 4_096

  var pathNames: [ExactText] { text.pathNames.map { ExactText(String($0) ?? "") } }

  var elements: [GlobElement] { text.unicodeScalars.map { .character($0) } }
}

/// Finds the forms of the paths of a flow. Two paths of one file have a form in common, also if one of
/// them leads through a symbolic link of a folder, as far as the links exist now.
struct FlowPaths {
  /// It limits the time that links to links take.
  private var links = 10_000
  /// The forms of folders.
  private var known: [ExactText: [String]] = [:]
  private let folder: String

  /// - Parameter folder: The absolute path of the folder of the flow file.
  init(in folder: String) { self.folder = folder }

  /// Returns the only form of an output. A link at its end is not followed: a step can make a link.
  mutating func output(_ pattern: GlobPattern, in directory: String?) -> FlowPath {
    let (parent, name, rest) = parts(of: pattern, in: directory)
    let folder = folders(of: parent).last ?? ""
    if name.isEmpty { return rest.isEmpty ? FlowPath(folder) : FlowPath(folder, rest) }
    return FlowPath(folder, name)
  }

  /// Returns the forms of an input: the path without links, and before it the path of each link on the
  /// way, which can be an output, with the rest.
  mutating func inputs(_ pattern: GlobPattern, in directory: String?) -> [FlowPath] {
    let (parent, name, rest) = parts(of: pattern, in: directory)
    let forms = folders(of: parent)
    if !rest.isEmpty { return forms.map { FlowPath($0, rest) } }
    if name.isEmpty { return forms.map { FlowPath($0) } }
    let paths = forms.map { FlowPath($0, name) }
    guard let folder = forms.last, let target = target(ofLink: name, in: folder) else {
      return paths
    }
    return paths + folders(of: target).map { FlowPath($0) }
  }

  /// Returns the absolute path of a file without links in it, also if the file does not exist.
  mutating func followingLinks(_ path: String) -> String {
    let isAbsolute = path.utf8.first == UInt8(ascii: "/")
    return folders(of: isAbsolute ? path : "\(folder)/\(path)").last ?? path
  }

  /// The folder, which may contain `.` and `..`, the last name, and the rest of a pattern. The name is
  /// empty for a pattern, and if it is `..`.
  private func parts(
    of pattern: GlobPattern, in directory: String?
  ) -> (folder: String, name: String, rest: [GlobElement]) {
    var path = ""
    if !pattern.isAbsolute {
      let isAbsolute = directory?.utf8.first == UInt8(ascii: "/")
      path = isAbsolute ? "" : "\(folder)/"
      if let directory { path += "\(directory)/" }
    }
    if let text = pattern.path {
      let (folder, name) = text.splitPath
      if name == ".." { return (path + text, "", []) }
      return (folder == "./" ? path : path + folder, name, [])
    }
    var rest: [[GlobElement]] = []
    for name in pattern.names {
      if name.literal == "..", let last = rest.last, last != [.folders] {
        rest.removeLast()
      } else if rest.isEmpty, let literal = name.literal {
        path += "/\(literal)"
      } else {
        rest.append(name)
      }
    }
    var elements: [GlobElement] = []
    for name in rest {
      if !elements.isEmpty, elements.last != .folders { elements.append(.character("/")) }
      elements += name
    }
    return (path, "", elements)
  }

  /// Returns the forms of a folder as a text names it.
  private mutating func folders(of text: String) -> [String] {
    let key = ExactText(text)
    if let forms = known[key] { return forms }
    let forms = forms(of: text.normalizedPath)
    known[key] = forms
    return forms
  }

  /// Returns the forms of a folder; the last one has no links.
  private mutating func forms(of path: String, _ depth: Int = 0) -> [String] {
    if path.utf8.count > ExactText.mostBytes { return [path] }
    var names: [String] = []
    var (rest, forms) = (path == "/" ? "" : path, [""])
    while !rest.isEmpty {
      if let found = known[ExactText(rest)] {
        forms = found
        break
      }
      let (parent, name) = rest.lastName
      names.append(name)
      rest = parent
    }
    for name in names.reversed() {
      forms = extended(forms, by: name, depth)
      rest += "/\(name)"
      known[ExactText(rest)] = forms
    }
    return forms
  }

  private mutating func extended(
    _ folders: [String], by name: String, _ depth: Int
  ) -> [String] {
    guard let folder = folders.last, !name.isEmpty else { return folders }
    if name == ".." { return [folder.lastName.parent] }
    let paths = folders.map { "\($0)/\(name)" }
    guard depth < 40, let target = target(ofLink: name, in: folder) else { return paths }
    return (paths + forms(of: target.normalizedPath, depth + 1)).suffix(20)
  }

  /// Returns the absolute path to which a link leads; nil for another file.
  private mutating func target(ofLink name: String, in folder: String) -> String? {
    guard links > 0,
      let target = try? OpenFolder.working.target(ofLink: FileName("\(folder)/\(name)")).exactText
    else { return nil }
    links -= 1
    return target.utf8.first == UInt8(ascii: "/") ? target : "\(folder)/\(target)"
  }
}

extension String {
  /// The path of the folder, and the last name.
  fileprivate var lastName: (parent: String, name: String) {
    if isEmpty { return ("", "") }
    let (folder, name) = splitPath
    return (String(folder.utf8.dropLast()) ?? "", name)
  }
}
