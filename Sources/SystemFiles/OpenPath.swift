package import CompositeOperations

/// Folders that are open inside one another, from a root down.
///
/// Each is opened in the one around it, and never by its path: nobody can lead whoever goes down here elsewhere by
/// putting a link in the place of a folder, and paths may be longer than the system lets anybody name. Only some
/// stay open, because a process may not have many open; the others are found again by `..`.
package final class OpenPath {
  private struct Level {
    let name: String
    let identity: FileStatus.Identity
    /// Nil where it is not open.
    var folder: OpenFolder?
  }

  private static let openCount = 8

  /// What the root is called in errors.
  private let root: String
  private var outer: [Level] = []
  package private(set) var innermost: OpenFolder
  private var name = ""
  private var identity: FileStatus.Identity

  /// - Parameters:
  ///   - root: A folder, which this closes.
  ///   - path: What it is called in errors.
  package init(_ root: OpenFolder, at path: String) throws(SystemError) {
    self.root = path
    innermost = root
    do { identity = try root.file.status.identity } catch {
      root.close()
      throw error
    }
  }

  deinit {
    innermost.close()
    for level in outer { level.folder?.close() }
  }

  /// What something in the innermost folder is called in errors.
  package func path(of name: FileName) -> String {
    var names = outer.dropFirst().map(\.name)
    if !outer.isEmpty { names.append(self.name) }
    return root.path(of: (names + [name.text]).joined(separator: "/"))
  }

  /// Goes into a folder of the innermost one, which it then is.
  package func enter(_ name: FileName) throws(SystemError) {
    let folder = try innermost.folder(name)
    let status: FileStatus
    do { status = try folder.file.status } catch {
      folder.close()
      throw error
    }
    outer.append(Level(name: self.name, identity: identity, folder: innermost))
    (self.name, identity, innermost) = (name.text, status.identity, folder)
    let first = outer.count - Self.openCount
    if first >= 0 {
      outer[first].folder?.close()
      outer[first].folder = nil
    }
  }

  /// Goes back to the folder around the innermost one, which is then that.
  ///
  /// - Returns: The one that was left, for the caller to close.
  /// - Throws: Also where somebody has moved it into another folder meanwhile.
  /// - Precondition: It is not the root.
  package func leave() throws(SystemError) -> OpenFolder {
    guard let level = outer.last else { preconditionFailure("the root has no parent") }
    let folder = if let folder = level.folder { folder } else { try reopened(level) }
    outer.removeLast()
    defer { (name, identity, innermost) = (level.name, level.identity, folder) }
    return innermost
  }

  private func reopened(_ level: Level) throws(SystemError) -> OpenFolder {
    let folder = try innermost.folder(FileName(".."))
    if let status = try? folder.file.status, status.identity == level.identity { return folder }
    folder.close()
    throw .missing
  }
}
