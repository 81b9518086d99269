import SystemSupport

/// The files in a folder. Their paths are bytes, absolute or relative to the folder.
struct FileTree {
  private let folder: [UInt8]

  init(_ folder: String) { self.folder = Array(folder.utf8) }

  /// Returns the status of a file, following links; nil if there is no such file.
  ///
  /// - Throws: A ``FlowFailure`` that names the file.
  func status(of path: [UInt8]) throws -> FileStatus? {
    do throws(SystemError) {
      return try OpenFolder.working.status(of: name(path), followingLink: true)
    } catch {
      if error.isMissing { return nil }
      throw Self.failure(path, error)
    }
  }

  /// Returns the status of a file that a search has found: of a link, if its target is missing or a
  /// folder, which are not read.
  func foundStatus(of path: [UInt8]) -> FileStatus? {
    let status = try? OpenFolder.working.status(of: name(path), followingLink: true)
    if let status, status.kind != .folder { return status }
    return try? OpenFolder.working.status(of: name(path))
  }

  /// Returns the kind of a file, without following links; nil if there is no such file.
  func kind(of path: [UInt8]) -> FileStatus.Kind? {
    (try? OpenFolder.working.status(of: name(path)))?.kind
  }

  func isFolder(_ path: [UInt8]) -> Bool {
    (try? OpenFolder.working.status(of: name(path), followingLink: true))?.kind == .folder
  }

  /// Returns the names in a folder and the kinds of their files; none if there is no such folder.
  ///
  /// - Throws: A ``FlowFailure`` that names the folder.
  func entries(of path: [UInt8]) throws -> [(name: [UInt8], kind: FileStatus.Kind)] {
    do {
      let open = try OpenFolder.working.folder(name(path), followingLink: true)
      defer { open.close() }
      var entries: [(name: [UInt8], kind: FileStatus.Kind)] = []
      try open.forEachName { name, kind in
        if let kind = kind ?? (try? open.status(of: name))?.kind {
          entries.append((Array(name.utf8), kind))
        }
      }
      return entries
    } catch let error as SystemError {
      // A link to itself is not a folder.
      if error.isMissing || error == .tooManySymbolicLinkLevels { return [] }
      throw Self.failure(path, error)
    }
  }

  /// Returns all files below a folder, also hidden ones, but not the state of flows in folders with
  /// the name `.flow`. Links are not followed.
  func files(below path: [UInt8]) throws -> [[UInt8]] {
    var files: [[UInt8]] = []
    var folders = [path]
    while let folder = folders.popLast() {
      for (name, kind) in try entries(of: folder) {
        if name.elementsEqual(".flow".utf8) { continue }
        let path = folder.path(of: name)
        if kind == .folder { folders.append(path) } else { files.append(path) }
      }
    }
    return files
  }

  func name(_ path: [UInt8]) -> FileName {
    if path.first == UInt8(ascii: "/") { return FileName(path) }
    return FileName(path.isEmpty ? folder : folder.path(of: path))
  }

  static func failure(_ path: [UInt8], _ error: SystemError) -> FlowFailure {
    let name = path.isEmpty ? "the folder" : "'\(path.pathText)'"
    return .other("\(name) cannot be read: \(error)")
  }
}

extension [UInt8] {
  /// Returns the path of an item in the folder at this path.
  func path(of name: some Collection<UInt8>) -> [UInt8] {
    isEmpty || last == UInt8(ascii: "/") ? self + name : self + [UInt8(ascii: "/")] + name
  }

  /// The path for messages.
  var pathText: String {
    ShellText.escaped(self, utf8: String(validating: self, as: UTF8.self))
  }
}
